internal import Dictionaries
internal import Testing

/// RFC 9842 section 2.3.
struct DictionaryIDTests {
    @Test(arguments: [
        [], ["abc"], ["\"a"], ["\"a\", \"b\""], ["\"a\"", "\"b\""], ["\"a\u{E9}\""], [":YWJj:"], [""],
    ])
    func `anything but one string is as if absent`(lines: [String]) {
        #expect(DictionaryID.parse(lines) == nil)
    }

    @Test(arguments: [("\"\"", ""), ("\"v1\"", "v1"), ("\"a\\\"b\\\\c\";x=1", "a\"b\\c")])
    func `the two escapes are undone`(line: String, id: String) {
        #expect(DictionaryID.parse([line]) == id)
    }

    @Test func `an id has at most 1024 characters`() {
        let longest = String(repeating: "a", count: 1024)
        #expect(DictionaryID.parse(["\"\(longest)\""]) == longest)
        #expect(DictionaryID.parse(["\"\(longest)a\""]) == nil)
        let escaped = String(repeating: "\\\"", count: 1024)
        #expect(DictionaryID.parse(["\"\(escaped)\""])?.utf8.count == 1024)
        // Parameters have some room, and no more.
        let parameter = String(repeating: "y", count: 2_300)
        #expect(DictionaryID.parse(["\"a\";x=\"\(parameter)\""]) == nil)
    }
}
