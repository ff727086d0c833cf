/// What names a private chain, as bytes to be sealed.
enum PrivateChainFacts {
    /// The bytes: the tag, then authority, match and each match-dest, every one preceded by its length.
    static func bytes(_ key: ChainKey, _ tag: IdentityTag) -> [UInt8] {
        var parts = LengthPrefixed("1")
        parts.append(tag.bytes)
        parts.append(key.authority)
        parts.append(key.match)
        for destination in key.matchDest { parts.append(destination) }
        return parts.bytes
    }

    /// The chain that the bytes name; nil where they are not as `bytes` makes them.
    static func key(_ bytes: [UInt8]) -> ChainKey? {
        guard let parts = LengthPrefixed.parts(of: bytes), parts.count >= 4, parts[0] == Array("1".utf8),
            let tag = IdentityTag(bytes: parts[1])
        else { return nil }
        let texts = parts.dropFirst(2).map { String(decoding: $0, as: UTF8.self) }
        return ChainKey(
            authority: texts[0], scope: .private(tag), match: texts[1], matchDest: Array(texts.dropFirst(2)))
    }
}
