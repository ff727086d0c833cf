internal import Dictionaries
internal import Testing

/// RFC 9110 section 8.8.3.
struct EntityTagTests {
    @Test(arguments: [
        "", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/", "W", "W /\"a\"", "\"a\" \"b\"", "\"a\"b",
        "\"a b\"", "*", "\"\u{FFFD}\"", "W/\"a\u{FFFD}b\"", "\"\u{E9}\"",
    ])
    func `anything but one entity tag is none`(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test(arguments: ["\"\"", "\"a\"", "W/\"a\"", "\"a,b\"", "\"!#~\"", "W/\"\\\""])
    func `an entity tag is written as it was read`(text: String) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.serialized == text)
        #expect(tag.isWeak == text.hasPrefix("W/"))
        #expect(tag.weakened.serialized == (tag.isWeak ? text : "W/" + text))
        #expect(tag.weakened.strengthened.serialized == tag.opaque)
    }

    /// The table of RFC 9110 section 8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ])
    func `tags compare as the table says`(first: String, second: String, strong: Bool, weak: Bool) throws {
        let first = try #require(EntityTag(first))
        let second = try #require(EntityTag(second))
        let (firstText, secondText) = (first.serialized, second.serialized)
        let areStrong = [
            first.strongMatches(secondText.utf8.span), second.strongMatches(firstText.utf8.span),
        ]
        #expect(areStrong == [strong, strong])
        #expect(first.weakMatches(second) == weak)
        #expect(second.weakMatches(first) == weak)
    }

    @Test(
        arguments: [
            ("\"ab\"", true), (" \"ab\"\t", true), ("\"ab", false), ("\"aB\"", false), ("ab", false),
            ("\"ab\"x", false), ("\"ab\", \"ab\"", false), ("W/\"ab\"", false), ("", false),
        ])
    func `a field value fits a strong tag where it is that tag, byte by byte`(value: String, fits: Bool)
        throws
    {
        let tag = try #require(EntityTag("\"ab\""))
        let isMatch = tag.strongMatches(value.utf8.span)
        let isWeakMatch = tag.weakened.strongMatches(value.utf8.span)
        #expect(isMatch == fits)
        #expect(!isWeakMatch)
    }

    @Test(
        arguments: [
            ([], [], true), (["\"a\""], ["\"a\""], true),
            (["\"a\", W/\"b,c\" ,\"\""], ["\"a\"", "W/\"b,c\"", "\"\""], true),
            ([",, \"a\","], ["\"a\""], true), (["\"a\"", "\"b\""], ["\"a\"", "\"b\""], true),
            (["a, \"b\""], [], false), (["\"a\" \"b\""], [], false), (["\"a\", b, \"c\""], ["\"a\""], false),
            (["*", "\"a\""], [], false), (["\"a\", *"], ["\"a\""], false),
            (["\"a\", b", "\"c\""], ["\"a\""], false),
        ] as [([String], [String], Bool)])
    func `a list is read up to its first malformed member`(lines: [String], tags: [String], isWhole: Bool) {
        #expect(EntityTag.parseList(lines) == .tags(tags.compactMap { EntityTag($0) }, isWhole: isWhole))
    }

    @Test func `a star alone stands for any`() throws {
        let tag = try #require(EntityTag("W/\"a\""))
        #expect(EntityTag.parseList(["*"]) == .any)
        #expect(EntityTag.parseList(["*"]).weakMatches(tag))
        #expect(EntityTag.parseList(["\"b\", \"a\""]).weakMatches(tag))
    }
}
