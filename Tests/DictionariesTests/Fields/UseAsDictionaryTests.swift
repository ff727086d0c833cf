internal import Dictionaries
internal import Testing

/// RFC 9842 section 2.1.
struct UseAsDictionaryTests {
    @Test(arguments: [
        "", "id=\"a\"", "match", "match=token", "match=1", "match=:YQ==:", "match=()", "match=\"\"",
        "match=\"a",
        "match=\"/a\", type=zip", "match=\"/a\", type=\"raw\"", "match=\"/a\", id=a",
        "match=\"/a\", match-dest=\"script\"",
        "match=\"/a\", match-dest=(script)", "match=\"/a\", match-dest=(1)", "MATCH=\"/a\"", "match=\"/a\",",
        "match=\"\\n\"",
        "\"/a\"", "match=\"/\u{E9}\"",
    ])
    func `a field without a valid match or of another type is no offer`(line: String) {
        #expect(UseAsDictionary.parse([line]) == nil)
    }

    @Test func `all members are read`() throws {
        let field = try #require(
            UseAsDictionary.parse([
                "match=\"/app/*/main.js\", match-dest=(\"script\" \"\"), id=\"a\\\"\\\\b\", type=raw, ttl=3600, new=1;x"
            ]))
        #expect(field.match == "/app/*/main.js")
        #expect(field.matchDest == ["script", ""])
        #expect(field.id == "a\"\\b")
        #expect(field.ttl == 3600)
    }

    @Test func `members may come on several lines, the last of a name counts`() {
        let field = UseAsDictionary.parse(["match=\"/a\"", "id=\"b\", match=\"/c\""])
        #expect(field == UseAsDictionary(match: "/c", id: "b"))
    }

    @Test(arguments: ["-1", "1.5", "\"60\"", "?1", "soon"])
    func `a ttl that is no number of seconds is ignored`(ttl: String) {
        #expect(UseAsDictionary.parse(["match=\"/a\", ttl=\(ttl)"]) == UseAsDictionary(match: "/a"))
    }

    @Test func `an id has at most 1024 characters`() {
        let longest = String(repeating: "a", count: 1024)
        #expect(UseAsDictionary.parse(["match=\"/a\", id=\"\(longest)\""])?.id == longest)
        #expect(UseAsDictionary.parse(["match=\"/a\", id=\"\(longest)a\""]) == nil)
    }

    @Test func `a field is read up to 8,192 bytes`() {
        func field(_ bytes: Int) -> String {
            let start = "match=\"/a\", x=\"\""
            return "match=\"/a\", x=\"" + String(repeating: "y", count: bytes - start.utf8.count) + "\""
        }
        #expect(UseAsDictionary.parse([field(UseAsDictionary.fieldBytesMax)]) == UseAsDictionary(match: "/a"))
        #expect(UseAsDictionary.parse([field(UseAsDictionary.fieldBytesMax + 1)]) == nil)
        #expect(UseAsDictionary.fieldBytesMax == 8_192)
    }

    @Test func `another id leaves the other members as they are`() {
        let field = UseAsDictionary(match: "/a", matchDest: ["script"], id: "x", ttl: 60)
        #expect(
            field?.with(id: "y")?.serialized == "match=\"/a\", match-dest=(\"script\"), id=\"y\", ttl=60")
        #expect(field?.with(id: "\n") == nil)
    }

    @Test(arguments: ["\u{E9}", "\n", "\u{7F}", "a\0"])
    func `what no structured-field string can hold makes no field`(text: String) {
        #expect(UseAsDictionary(match: text) == nil)
        #expect(UseAsDictionary(match: "/a", matchDest: [text]) == nil)
        #expect(UseAsDictionary(match: "/a", id: text) == nil)
    }

    @Test(arguments: [-1, 1_000_000_000_000_000])
    func `what no structured-field integer can hold makes no field`(ttl: Int) {
        #expect(UseAsDictionary(match: "/a", ttl: ttl) == nil)
    }

    @Test(arguments: [
        (UseAsDictionary(match: "/a"), "match=\"/a\""),
        (UseAsDictionary(match: "/a\\*\"b"), "match=\"/a\\\\*\\\"b\""),
        (
            UseAsDictionary(match: "/a", matchDest: ["script", "style"], id: "v\"1", ttl: 60),
            "match=\"/a\", match-dest=(\"script\" \"style\"), id=\"v\\\"1\", ttl=60"
        ),
    ])
    func `a field is written with the two escapes, and read back the same`(
        field: UseAsDictionary?, text: String
    ) {
        #expect(field?.serialized == text)
        #expect(UseAsDictionary.parse([text]) == field)
    }
}
