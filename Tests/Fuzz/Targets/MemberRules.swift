internal import Dictionaries

/// The rules for members of a JSON text: no input traps.
enum MemberRules {
    private static let key = OperationKey([
        "op", "operationName", "a.b", "extensions.persistedQuery.sha256Hash",
    ])

    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let values = values(bytes)
        for value in values ?? [] {
            try require((value?.utf8.count ?? 0) <= JSONMembers.valueBytesMax, "a value is bounded")
        }
        guard values != nil else { return }
        try require(Self.values(bytes + bytes) == nil, "two objects are no JSON text")
        try require(
            Self.values(Array(bytes.dropLast())) == nil || bytes.last != UInt8(ascii: "}"),
            "an object has an end")
    }

    private static func values(_ bytes: [UInt8]) -> [String?]? {
        JSONMembers.values(of: key.paths, in: bytes)
    }
}
