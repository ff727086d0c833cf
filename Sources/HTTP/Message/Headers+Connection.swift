extension Headers {
    /// Removes the fields that end at this hop, and those that `Connection` names (RFC 9110 section 7.6.1).
    ///
    /// Transfer-Encoding goes too: decide the framing first, and write your own. Host, Content-Length and Cache-Control stay even
    /// when named, since a sender must not name a field that is meant for every recipient.
    ///
    /// `kept` stays even so: for a field that is passed on on purpose.
    package mutating func removeConnectionFields(except kept: HeaderName? = nil) {
        var named: [HeaderName] = []
        forEachListMember(of: .connection) { member in
            if let name = HeaderName(String(member)) { named.append(name) }
        }
        for name in named where name != kept && !Self.neverConnectionFields.contains(name) { remove(name) }
        let keptID = kept?.id ?? 0
        removeLines { line, _ in Self.isConnectionField[Int(line.id)] && line.id != keptID }
    }

    // By the number of the name; all of them are well known.
    private static let isConnectionField: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for name in [
            HeaderName.connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te,
            .transferEncoding, .upgrade, .http2Settings,
        ] {
            precondition(name.id != 0, "an unlisted name has no number of its own")
            table[Int(name.id)] = true
        }
        return table
    }()

    private static let neverConnectionFields: [HeaderName] = [.host, .contentLength, .cacheControl]
}
