internal import Primitives
import Testing

struct ListMembersTests {
    private func forwards(_ text: String, _ separator: UInt8 = ASCII.comma) -> [String] {
        let bytes = Array(text.utf8)
        var members = ListMembers(0..<bytes.count, separator: separator)
        var found: [String] = []
        while let member = members.next(in: bytes.span) {
            found.append(String(bytes.span.extracting(member)))
        }
        return found
    }

    private func backwards(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        var members = ListMembers(0..<bytes.count)
        var found: [String] = []
        while let member = members.popLast(in: bytes.span) {
            found.append(String(bytes.span.extracting(member)))
        }
        return found
    }

    @Test(
        arguments: [
            ("", []), (",", []), (" , ,\t,", []), ("a", ["a"]), (" a ,\tb ,", ["a", "b"]),
            ("a=\"b, c\", d", ["a=\"b, c\"", "d"]), ("a=\"b\\\", c\", d", ["a=\"b\\\", c\"", "d"]),
            ("a;q=1, b c", ["a;q=1", "b c"]), ("a\\,b", ["a\\", "b"]),
            ("\"a, b\", \"c\"", ["\"a, b\"", "\"c\""]),
        ] as [(String, [String])])
    func `the members are the same from either end`(text: String, members: [String]) {
        #expect(forwards(text) == members)
        #expect(backwards(text) == members.reversed())
    }

    @Test func `a quoted string that does not end takes the rest`() {
        #expect(forwards("x, a=\"b, c") == ["x", "a=\"b, c"])
        #expect(forwards("a=\"b\\") == ["a=\"b\\"])
    }

    @Test func `empty members are skipped unless they are asked for`() {
        let bytes = Array("a,, b".utf8)
        var members = ListMembers(0..<bytes.count)
        #expect(members.nextOrEmpty(in: bytes.span) == 0..<1)
        #expect(members.nextOrEmpty(in: bytes.span)?.isEmpty == true)
        #expect(members.nextOrEmpty(in: bytes.span) == 4..<5)
        #expect(members.nextOrEmpty(in: bytes.span) == nil)
    }

    @Test func `another separator and a part of a text can be walked`() {
        #expect(forwards("a; b=\"c;d\"; e", ASCII.semicolon) == ["a", "b=\"c;d\"", "e"])
        let bytes = Array("x,a,b,y".utf8)
        var members = ListMembers(2..<5)
        #expect(members.next(in: bytes.span) == 2..<3)
        #expect(members.popLast(in: bytes.span) == 4..<5)
        #expect(members.next(in: bytes.span) == nil && members.popLast(in: bytes.span) == nil)
    }
}
