extension Headers {
    /// Removes the fields that end at this hop, and those that `Connection` names (RFC 9110 section 7.6.1).
    ///
    /// Transfer-Encoding goes too: decide the framing first, and write your own. Host, Content-Length and Cache-Control stay even
    /// when named, since a sender must not name a field that is meant for every recipient.
    package mutating func removeConnectionFields() {
        var named: [HeaderName] = []
        forEachListMember(of: .connection) { member in
            if let name = HeaderName(String(member)) { named.append(name) }
        }
        for name in named where !Self.neverConnectionFields.contains(name) { remove(name) }
        for name in Self.connectionFields { remove(name) }
    }

    private static let connectionFields: [HeaderName] = [
        .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te,
        .transferEncoding, .upgrade, .http2Settings,
    ]

    private static let neverConnectionFields: [HeaderName] = [.host, .contentLength, .cacheControl]
}
