internal import Dictionaries

/// The rules for fields: nothing traps, and what is written again reads as the same.
enum FieldRules {
    static func check(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 3).map {
            String(decoding: $0, as: UTF8.self)
        }
        let offer = UseAsDictionary.parse(lines)
        if let offer {
            require(UseAsDictionary.parse([offer.serialized]) == offer, "Use-As-Dictionary reads as written")
        }
        if let digest = AvailableDictionary.parse(lines) {
            require(
                AvailableDictionary.parse([":\(digest.base64):"]) == digest,
                "Available-Dictionary reads as written")
        }
        _ = DictionaryID.parse(lines)
        let accepted = AcceptEncoding(lines)
        for coding in ContentCoding.allCases {
            require((0...1000).contains(accepted.quality(of: coding)), "a weight is one")
        }
        _ = CacheControl(lines)
        _ = LinkField.dictionaryTargets(lines)
        _ = EntityTag.parseList(lines)
        _ = Vary.merged(lines, adding: ["Accept-Encoding"])
        for line in lines {
            if let tag = EntityTag(line) {
                require(EntityTag(tag.serialized) == tag, "an entity tag reads as written")
            }
            _ = FieldDate.parse(line)
            _ = NormalPath.isNormal(line)
            _ = Digest(base64URL: line)
        }
    }
}
