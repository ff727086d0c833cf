internal import Dictionaries

/// The rules for members of a JSON text: no input traps, and the pieces in which it comes make no difference.
enum MemberRules {
    private static let key = OperationKey([
        "op", "operationName", "a.b", "extensions.persistedQuery.sha256Hash",
    ])

    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let values = Self.values(bytes, Cuts(bytes))
        try require(values == Self.values(bytes, .single), "the pieces make no difference")
        for value in values ?? [] {
            try require((value?.utf8.count ?? 0) <= JSONMembers.valueBytesMax, "a value is bounded")
        }
        guard values != nil else { return }
        try require(Self.values(bytes + bytes, .single) == nil, "two objects are no JSON text")
        try require(
            Self.values(Array(bytes.dropLast()), .single) == nil || bytes.last != UInt8(ascii: "}"),
            "an object has an end")
    }

    private static func values(_ bytes: [UInt8], _ cuts: Cuts) -> [String?]? {
        var (members, cuts, start) = (JSONMembers(key.paths), cuts, 0)
        while start < bytes.count {
            let end = cuts.next(after: start, count: bytes.count)
            members.read(bytes.span.extracting(start..<end))
            start = end
        }
        return members.values
    }
}
