extension Headers {
    /// Removes the hop-by-hop fields and those that `Connection` names (RFC 9110 section 7.6.1).
    ///
    /// Transfer-Encoding goes too: decide the framing first and write your own. Host, Content-Length,
    /// Cache-Control and Early-Data (RFC 8470 section 5.1) stay even if named, because a sender must not name
    /// fields that are meant for every recipient.
    ///
    /// `kept` stays in any case.
    package mutating func removeConnectionFields(except kept: HeaderName? = nil) {
        var named: [HeaderName] = []
        forEachListMember(of: .connection) { member in
            // Most connections say only this, and no field has such a name.
            if member.equalsIgnoringCase("close") || member.equalsIgnoringCase("keep-alive") { return }
            if let name = HeaderName(String(member)) { named.append(name) }
        }
        for name in named where name != kept && !Self.neverConnectionFields.contains(name) { remove(name) }
        let keptID = kept?.id ?? 0
        removeLines { line, block in
            Self.connectionFields.contains(id: line.id, block.extracting(line.name)) && line.id != keptID
        }
    }

    private static let connectionFields: HeaderNameSet = [
        .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te,
        .transferEncoding, .upgrade, .http2Settings,
    ]

    private static let neverConnectionFields: [HeaderName] = [
        .host, .contentLength, .cacheControl, .earlyData,
    ]
}
