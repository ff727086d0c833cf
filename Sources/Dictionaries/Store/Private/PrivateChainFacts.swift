/// The names of a private chain, encoded to be sealed.
///
/// Personal chains of one resource share a row; each of their versions carries the tag of its chain.
enum PrivateChainFacts {
    private static let ofIdentity = Array("1".utf8)
    private static let ofPersons = Array("2".utf8)

    /// Returns the encoding: the tag of an identity, the authority, the match and each match-dest, every part
    /// preceded by its length.
    static func bytes(_ key: ChainKey) -> [UInt8] {
        var parts: LengthPrefixed
        if case .private(let tag) = key.scope {
            parts = LengthPrefixed("1")
            parts.append(tag.bytes)
        } else {
            parts = LengthPrefixed("2")
        }
        parts.append(key.authority)
        parts.append(key.match)
        for destination in key.matchDest { parts.append(destination) }
        return parts.bytes
    }

    /// The owner of a row in the table of private chains.
    enum Owner {
        /// One identity, whose chain this is.
        case identity(ChainKey)
        /// Many persons; the tag of each version completes the key.
        case persons(authority: String, match: String, matchDest: [String])
    }

    /// Decodes the names; returns nil if the bytes were not made by `bytes`.
    static func owner(_ bytes: [UInt8]) -> Owner? {
        guard let parts = LengthPrefixed.parts(of: bytes), parts.count >= 3 else { return nil }
        if parts[0] == ofPersons {
            let texts = parts.dropFirst().map { String(decoding: $0, as: UTF8.self) }
            return .persons(authority: texts[0], match: texts[1], matchDest: Array(texts.dropFirst(2)))
        }
        guard parts[0] == ofIdentity, parts.count >= 4, let tag = IdentityTag(bytes: parts[1]) else {
            return nil
        }
        let texts = parts.dropFirst(2).map { String(decoding: $0, as: UTF8.self) }
        return .identity(
            ChainKey(
                authority: texts[0], scope: .private(tag), match: texts[1],
                matchDest: Array(texts.dropFirst(2))))
    }
}
