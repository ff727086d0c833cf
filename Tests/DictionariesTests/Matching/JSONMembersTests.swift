internal import Dictionaries
internal import Testing

/// Members of a JSON text.
struct JSONMembersTests {
    private static let paths = [["op"], ["extensions", "persistedQuery", "sha256Hash"]]

    private static func values(_ text: String) -> [String?]? {
        JSONMembers.values(of: paths, in: Array(text.utf8))
    }

    @Test(arguments: [
        "", " ", "{", #"{"op":"A""#, #"{"op":"A"}}"#, #"{"op":"A"}x"#, #"{"op":"A",}"#, #"{"op" "A"}"#,
        "op=A",
        #"{op:"A"}"#, #"{'op':'A'}"#, #"{"op":"A"]"#, #"{"a":[1,]}"#, #"{"op":"A","b":nul}"#, #"{"b":01}"#,
        #"{"b":-}"#,
        #"{"b":1.}"#, #"{"b":1e}"#, #"{"b":.5}"#, #"{"op":"\x41"}"#, #"{"op":"\u00g0"}"#, "{\"op\":\"A\n\"}",
        "\u{FEFF}{}",
        #"{"op":"A"}{"op":"A"}"#, "null", "1", #""op""#, #"{"b":tru}"#, #"{"b":TRUE}"#, "{\"b\":\u{0}}",
    ])
    func `what is no whole JSON object has no values`(text: String) {
        #expect(Self.values(text) == nil)
    }

    @Test(arguments: [
        #"[{"op":"A"}]"#, #"{"op":"A","op":"A"}"#, #"{"op":"A","\u006fp":"B"}"#, #"{"op":null,"op":"B"}"#,
        #"{"op":{"op":"A"}}"#, #"{"op":["A"]}"#, #"{"op":"\ud83dx"}"#, #"{"op":"\udc00"}"#,
        #"{"op":"x\ud83d"}"#,
        #"{"extensions":{"persistedQuery":{"sha256Hash":"a"}},"extensions":"x"}"#,
        #"{"extensions":{"persistedQuery":{"sha256Hash":"a"}},"extensions":{}}"#,
        #"{"extensions":1,"extensions":2}"#,
        #"{"extensions":{"persistedQuery":null,"persistedQuery":{"sha256Hash":"a"}}}"#,
        #"{"extensions":{"persistedQuery":{"sha256Hash":"a"}},"extensions":{"persistedQuery":{"sha256Hash":"b"}}}"#,
    ])
    func `a text that two readers may understand in two ways has no values`(text: String) {
        #expect(Self.values(text) == nil)
    }

    @Test(
        arguments: [
            (#"{"op":"Feed"}"#, "Feed"), (#" { "op" : "Feed" } "#, "Feed"),
            (#"{"\u006f\u0070":"F\u0065ed"}"#, "Feed"),
            (#"{"variables":{"op":"X","a":[1,-2.5e+3,true,null,{"op":"Y"}]},"op":"Feed"}"#, "Feed"),
            (#"{"a":[],"b":{},"op":"Feed"}"#, "Feed"),
            (#"{"op":"\"\\\/\b\f\n\r\t"}"#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#"{"op":"\ud83d\ude00"}"#, "\u{1F600}"), (#"{"op":"\ufffd"}"#, "\u{FFFD}"),
            (#"{"b":"\ud83dx","op":"A"}"#, "A"),
            (#"{"op":12.5}"#, "12.5"),
            (#"{"op":true}"#, "true"), (#"{"op":null}"#, nil), ("{}", nil), (#"{"OP":"A"}"#, nil),
            (#"{"op":""}"#, ""),
            (#"{"a":[0.5,0E1,0e-1,-0,-0.25,10.25e30,1E5,1e5,1.5E12,20],"op":"Feed"}"#, "Feed"),
            (#"{"variables":{"op":"X"}}"#, nil), (#"{"a":[{"op":"X"}]}"#, nil),
        ] as [(String, String?)])
    func `a member of the outermost object counts, in whichever spelling`(text: String, value: String?) throws
    {
        let values = try #require(Self.values(text))
        #expect(values == [value, nil])
    }

    @Test func `a member of a member is named by its path`() {
        let text = #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"abc"}},"op":"A"}"#
        #expect(Self.values(text) == ["A", "abc"])
        #expect(Self.values(#"{"extensions":[{"persistedQuery":{"sha256Hash":"abc"}}]}"#) == [nil, nil])
    }

    @Test func `a text is read up to 64 KiB, a value up to 256 bytes, and 64 levels`() {
        func padded(to count: Int) -> String {
            let text = #"{"op":"A","q":""}"#
            return #"{"op":"A","q":""# + String(repeating: "x", count: count - text.utf8.count) + #""}"#
        }
        #expect(Self.values(padded(to: JSONMembers.bytesMax)) == ["A", nil])
        #expect(Self.values(padded(to: JSONMembers.bytesMax + 1)) == nil)
        func named(_ count: Int) -> String { #"{"op":""# + String(repeating: "n", count: count) + #""}"# }
        #expect(Self.values(named(256))?[0]?.utf8.count == 256)
        #expect(Self.values(named(257)) == nil)
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
                + "}"
        }
        #expect(Self.values(nested(64)) == [nil, nil])
        #expect(Self.values(nested(65)) == nil)
        func objects(_ depth: Int) -> String {
            String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
        }
        #expect(Self.values(objects(64)) == [nil, nil])
        #expect(Self.values(objects(65)) == nil)
    }
}
