package struct RequestHead: Sendable {
    package var method: Method
    package var target: RequestTarget
    /// The client's version.
    package var version: HTTPVersion
    package var headers: Headers

    package init(
        method: Method, target: RequestTarget, version: HTTPVersion = .http11, headers: Headers = Headers()
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    /// The host and optional port that the request is for, in lower case; nil in HTTP/1.0 without Host.
    ///
    /// The parser has put the authority of an absolute target into Host (RFC 9112 section 3.2.2).
    package var authority: String? {
        var normalized: String?
        headers.forEachValue(of: .host) { value in
            if normalized == nil { normalized = Authority(value)?.normalized(value) }
        }
        return normalized
    }

    /// True if the client keeps the connection open for another request (RFC 9112 section 9.3).
    package var keepsAlive: Bool { HTTP.keepsAlive(version, headers) }

    /// True if a response may be sent before the TLS handshake is complete, when the request may be a replay
    /// (RFC 8470 section 4).
    ///
    /// Such a request asks for no change, has no content, and does not change the protocol.
    package var mayBeEarly: Bool {
        guard method == .get || method == .head || method == .options else { return false }
        return !headers.contains(.contentLength) && !headers.contains(.transferEncoding)
            && !headers.contains(.upgrade)
    }
}

package struct ResponseHead: Sendable {
    package var status: Status
    /// The server's version.
    package var version: HTTPVersion
    /// The phrase as received; nil for the registered one.
    package var reason: [UInt8]?
    package var headers: Headers

    package init(
        status: Status, version: HTTPVersion = .http11, reason: [UInt8]? = nil, headers: Headers = Headers()
    ) {
        self.status = status
        self.version = version
        self.reason = reason
        self.headers = headers
    }

    /// True if the server keeps the connection open for another request (RFC 9112 section 9.3).
    package var keepsAlive: Bool { HTTP.keepsAlive(version, headers) }
}

/// The version of a message; a minor version above 1.1 counts as 1.1 (RFC 9110 section 2.5).
package enum HTTPVersion: Int, Comparable, CaseIterable, Sendable {
    case http10, http11, http2

    package var text: StaticString {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2.0"
        }
    }

    package static func < (one: HTTPVersion, other: HTTPVersion) -> Bool { one.rawValue < other.rawValue }
}

private func keepsAlive(_ version: HTTPVersion, _ headers: Headers) -> Bool {
    if headers.containsToken(.connection, "close") { return false }
    return version >= .http11 || headers.containsToken(.connection, "keep-alive")
}
