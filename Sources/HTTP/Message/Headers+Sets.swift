internal import Primitives

extension Headers {
    package var tellsOfClient: Bool { containsAny(of: .forwarding) }

    /// True if a proxy has forwarded the request.
    package var isForwarded: Bool { containsAny(of: .ofForwarded) }

    package func containsAny(of names: HeaderNameSet) -> Bool {
        guard names.mayMeet(seen) else { return false }
        let bytes = block.span
        for line in lines where names.contains(line, of: bytes) { return true }
        return false
    }

    /// True if there is a line with any other name.
    package func containsAny(outside names: HeaderNameSet) -> Bool {
        let bytes = block.span
        for line in lines where !names.contains(line, of: bytes) { return true }
        return false
    }

    /// True if every line of another section occurs here too, byte for byte, except lines with names in
    /// `ignored`.
    package func holdsLines(of other: Headers, ignoring ignored: HeaderNameSet) -> Bool {
        let bytes = block.span
        let otherBytes = other.block.span
        return other.lines.allSatisfy { line in
            let text = otherBytes.extracting(Int(line.start)..<Int(line.end))
            return ignored.contains(line, of: otherBytes)
                || lines.contains {
                    $0.id == line.id && bytes.extracting(Int($0.start)..<Int($0.end)).equals(text)
                }
        }
    }

    /// Replaces lines with those of another section that have the same names (RFC 9111 section 3.2).
    ///
    /// Names in `kept` stay as they are here.
    package mutating func update(with other: Headers, keeping kept: HeaderNameSet) {
        let bytes = other.block.span
        var replaced: HeaderNameSet = []
        for line in other.lines where !kept.contains(line, of: bytes) {
            replaced.insert(id: line.id, bytes.extracting(line.name))
        }
        removeAll(replaced)
        for line in other.lines where replaced.contains(line, of: bytes) {
            append(line, of: bytes)
        }
    }

    // MARK: Fields of one hop

    /// Removes the hop-by-hop fields and those that `Connection` names (RFC 9110 section 7.6.1).
    ///
    /// Transfer-Encoding goes too: decide the framing first and write your own. Host, Content-Length,
    /// Cache-Control, Early-Data (RFC 8470 section 5.1) and what proxies write stay even if named, because a sender
    /// must not name fields that are meant for every recipient. A client could hide its address otherwise: fronts
    /// pass its `Connection` on.
    ///
    /// `kept` stays in any case.
    package mutating func removeConnectionFields(except kept: HeaderName? = nil) {
        var named: [HeaderName] = []
        forEachListMember(of: .connection) { member in
            // Most connections say only this, and no field has such a name.
            if member.equalsIgnoringCase("close") || member.equalsIgnoringCase("keep-alive") { return }
            if let name = HeaderName(String(member)) { named.append(name) }
        }
        for name in named
        where name != kept && !Self.neverConnectionFields.contains(name) && !name.isForwarding {
            remove(name)
        }
        guard let kept else { return removeAll(Self.connectionFields) }
        removeLines { line, block in
            Self.connectionFields.contains(line, of: block) && line.id != kept.id
        }
    }

    private static let connectionFields: HeaderNameSet = [
        .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te,
        .transferEncoding, .upgrade, .http2Settings,
    ]

    private static let neverConnectionFields: [HeaderName] =
        [.host, .contentLength, .cacheControl, .earlyData, .via]

    // MARK: Trailers

    /// Removes names from `Trailer` whose fields will not follow: those that no trailer section may hold, and those
    /// for which the closure is true (RFC 9110 section 6.6.2).
    package mutating func removeTrailerNames(where picks: (HeaderName) -> Bool = { _ in false }) {
        guard contains(.trailer) else { return }
        var kept: [String] = []
        var isShorter = false
        forEachListMember(of: .trailer) { member in
            let text = String(member)
            if let name = HeaderName(text), !name.isForbiddenInTrailers, !picks(name) {
                kept.append(text)
            } else {
                isShorter = true
            }
        }
        if kept.isEmpty {
            remove(.trailer)
        } else if isShorter {
            replace(.trailer, with: kept.joined(separator: ", "))
        }
    }
}
