extension RequestHead {
    /// True if the client keeps the connection open for another request (RFC 9112 section 9.3).
    package var keepsAlive: Bool {
        HTTP.keepsAlive(version, headers)
    }
}

extension ResponseHead {
    /// True if the server keeps the connection open for another request (RFC 9112 section 9.3).
    package var keepsAlive: Bool {
        HTTP.keepsAlive(version, headers)
    }
}

private func keepsAlive(_ version: Version, _ headers: Headers) -> Bool {
    if headers.containsToken(.connection, "close") { return false }
    return version >= .http11 || headers.containsToken(.connection, "keep-alive")
}
