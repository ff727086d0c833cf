internal import Primitives
internal import Testing

@testable import HTTP

/// The Priority field (RFC 9218 section 4), a structured dictionary (RFC 9651 section 3.2).
struct PriorityTests {
    @Test(
        arguments: [
            ("u=0", 0, nil), ("u=7", 7, nil), ("i", nil, true), ("u=1, i", 1, true), ("u=1,i", 1, true),
            ("i, u=2", 2, true), ("u=5, i=?0", 5, false), ("i=?1", nil, true), ("u=4;x=1, i;y", 4, true),
            (" u=6 ,\ti ", 6, true), ("u=1, u=6", 6, nil), ("", nil, nil),
        ] as [(String, UInt8?, Bool?)])
    func `parameters are read as a dictionary`(text: String, urgency: UInt8?, isIncremental: Bool?) {
        #expect(
            Priority(parsing: text.utf8.span) == Priority(urgency: urgency, isIncremental: isIncremental))
    }

    @Test(
        arguments: [
            ("u=8, i", nil, true), ("u=-1, i", nil, true), ("u=2.5, i", nil, true), ("u=\"1\", i", nil, true),
            ("u, i", nil, true), ("u=(1), i", nil, true), ("u=1, i=1", 1, nil), ("u=1, i=yes", 1, nil),
            ("u=1, x=7, y=(1 2), z=:AA==:", 1, nil), ("u=99999999999999", nil, nil),
        ] as [(String, UInt8?, Bool?)])
    func `a parameter that is unknown or invalid is ignored alone`(
        text: String, urgency: UInt8?, isIncremental: Bool?
    ) {
        #expect(
            Priority(parsing: text.utf8.span) == Priority(urgency: urgency, isIncremental: isIncremental))
    }

    @Test(arguments: [
        "u=1,", "u=1, ,i", "U=1", "u=1 i", "u=1, i=", "=1", "u=1, ?", "u=01x", "u=1, x=\"", "u=1\u{0}",
        "u=1, ü", "9", ";u=1",
    ])
    func `a malformed dictionary has no parameters`(text: String) {
        #expect(Priority(parsing: text.utf8.span) == Priority())
    }

    @Test func `a value at the limit of its length is read, a longer one is not`() {
        let longest = "u=1," + String(repeating: " ", count: Priority.fieldBytesMax - 7) + "x=1"
        #expect(longest.utf8.count == Priority.fieldBytesMax)
        #expect(Priority(parsing: longest.utf8.span).urgency == 1)
        #expect(Priority(parsing: (longest + " ").utf8.span).urgency == nil)
    }

    @Test func `lines are one value, and the last parameter of a name counts`() {
        var headers = Headers()
        #expect(Priority(headers) == nil)
        headers.append(.priority, "u=2")
        headers.append(.priority, "i, u=4")
        #expect(Priority(headers) == Priority(urgency: 4, isIncremental: true))
    }

    @Test func `a response's field corrects each parameter that it names`() {
        let asked = Priority(urgency: 5, isIncremental: true)
        #expect(Priority().merged(over: asked) == asked)
        #expect(
            Priority(urgency: 1).merged(over: asked) == Priority(urgency: 1, isIncremental: true))
        #expect(
            Priority(isIncremental: false).merged(over: asked)
                == Priority(urgency: 5, isIncremental: false))
    }

    @Test(arguments: ["", "u=0", "i", "u=1, i", "u=7, i=?0", "i=?0"])
    func `what is written is read again`(text: String) {
        #expect(Priority(parsing: text.utf8.span).text == text)
    }
}
