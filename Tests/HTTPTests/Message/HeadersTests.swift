import Primitives
import Testing

@testable import HTTP

struct HeadersTests {
    private static let own = HeaderName(token: "x-own".utf8.span)

    @Test func `an empty section has nothing and writes nothing`() {
        let headers = Headers()
        #expect(headers.isEmpty)
        #expect(headers.first(.host) == nil)
        #expect(headers.joined(.host) == nil)
        #expect(headers.values(.host) == [])
        #expect(written(headers) == "")
    }

    @Test(arguments: ["a\r\nEvil: b", "a\nb", "a\rb", "a\u{0}b", "a\u{7f}b", "\r\n\r\n", "a\r\n"])
    func `a value of ours cannot break its line`(value: String) {
        var headers = Headers()
        headers.append(.etag, value)
        headers.append(Self.own, wire(value))
        let text = written(headers)
        #expect(text.utf8.filter { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }.count == 4)
        #expect(!text.utf8.contains(0) && !text.utf8.contains(0x7f))
        #expect(text.hasPrefix("ETag: ") && text.hasSuffix("\r\n"))
        #expect(headers.first(.etag)?.last != " ", "RFC 9113 section 8.2.1")
        #expect(headers.count == 2)
    }

    @Test func `received names keep their spelling and ours have the conventional one`() throws {
        var headers = try parsed("hOsT: a\r\nX-Own:b\r\n")
        headers.append(.contentLength, "7")
        headers.append(Self.own, "c")
        #expect(written(headers) == "hOsT: a\r\nX-Own: b\r\nContent-Length: 7\r\nx-own: c\r\n")
    }

    @Test func `all lines of a name are found and removed whatever their case`() throws {
        var headers = try parsed("A: 1\r\nVary: a\r\nX-OWN: 1\r\nvary: b\r\nx-Own: 2\r\nB: 2\r\n")
        #expect(headers.count(of: .vary) == 2)
        #expect(headers.values(.vary) == ["a", "b"])
        #expect(headers.joined(.vary) == "a, b")
        #expect(headers.first(Self.own) == "1")
        #expect(headers.count(of: Self.own) == 2)
        headers.remove(.vary)
        headers.remove(Self.own)
        headers.remove(.host)
        #expect(!headers.contains(.vary) && !headers.contains(Self.own))
        #expect(written(headers) == "A: 1\r\nB: 2\r\n")
    }

    @Test func `a name is no prefix and no look-alike of another`() throws {
        let headers = try parsed("X-Own2: a\r\nX-Ow: b\r\nContent-Lengt: c\r\nContent-Length2: d\r\n")
        #expect(!headers.contains(Self.own))
        #expect(!headers.contains(.contentLength))
    }

    @Test func `a replaced field is one line at the end`() throws {
        var headers = try parsed("Via: a\r\nB: c\r\nVIA: d\r\n")
        headers.replace(.via, with: "e")
        headers.replace(.age, with: "0")
        #expect(written(headers) == "B: c\r\nVia: e\r\nAge: 0\r\n")
    }

    @Test func `lines between removed ones stay whole`() throws {
        for removed in 0..<16 {
            var headers = try parsed("x0: a\r\nx1: bb\r\nx2: \r\nx3: d\r\n")
            headers.removeAll { name in
                (0..<4).contains { removed >> $0 & 1 == 1 && name.text == "x\($0)" }
            }
            let lines = ["x0: a\r\n", "x1: bb\r\n", "x2: \r\n", "x3: d\r\n"]
            let expected = lines.enumerated().filter { removed >> $0.offset & 1 == 0 }.map(\.element)
            #expect(written(headers) == expected.joined())
            #expect(headers.count == expected.count)
        }
    }

    @Test(arguments: [
        ("X-Own", "x-own X_Own X.OWN x_own- _X~Own"), ("X_Own", "X-Own xown X_OWN"), ("x.id2", "X-ID2 X_Id2"),
        ("X-Request-ID", "X-Request-Id x_request_id x-request_id"), ("X_Request_ID", "X-Request-ID"),
        ("Via", "via V_ia"),
    ])
    func `a field goes with all that are taken for it`(name: String, taken: String) throws {
        let name = try #require(HeaderName(name))
        for taken in taken.split(separator: " ") {
            var headers = try parsed("A: b\r\n\(taken): c\r\nX-Own2: d\r\n\(taken): e\r\nX-Request: f\r\n")
            headers.removeLookalikes(of: name)
            #expect(written(headers) == "A: b\r\nX-Own2: d\r\nX-Request: f\r\n")
        }
    }

    @Test func `other letters, digits or hyphens are another name`() throws {
        let text = "XOwn: a\r\nX-Ow-n: b\r\nX-Own_2: c\r\nX_Ow: d\r\nV-ia: e\r\nAge: f\r\n"
        for name in ["X-Own", "Via", "Vary", "_"] {
            var headers = try parsed(text)
            headers.removeLookalikes(of: try #require(HeaderName(name)))
            #expect(written(headers) == text)
        }
    }

    @Test func `a copy does not see what is done to the other`() throws {
        let original = try parsed("A: b\r\nVia: c\r\n")
        var copy = original
        copy.remove(.via)
        copy.append(.age, "1")
        #expect(written(original) == "A: b\r\nVia: c\r\n")
        #expect(written(copy) == "A: b\r\nAge: 1\r\n")
    }

    @Test func `lines are handed over in the order of the wire`() throws {
        let headers = try parsed("B: 1\r\nHost: 2\r\nA: 3\r\n")
        var names: [String] = []
        headers.forEachName(outside: []) { names.append(String($0)) }
        #expect(names == ["B", "Host", "A"])
    }

    @Test func `only the first value is compared and case does not count`() throws {
        let headers = try parsed("Content-Encoding: GZip\r\nContent-Encoding: br\r\n")
        #expect(headers.firstEquals(.contentEncoding, "gzip"))
        #expect(!headers.firstEquals(.contentEncoding, "br"))
        #expect(!headers.firstEquals(.contentEncoding, "gzi"))
        #expect(!headers.firstEquals(.etag, ""))
    }

    @Test func `values that differ in bytes that are no UTF-8 stay apart`() throws {
        var headers = Headers()
        headers.append(.cookie, [0x61, 0xff])
        headers.append(.cookie, [0x61, 0xfe])
        var values: [[UInt8]] = []
        headers.forEachValue(of: .cookie) { value in
            var copy: [UInt8] = []
            copy.append(value)
            values.append(copy)
        }
        #expect(values == [[0x61, 0xff], [0x61, 0xfe]])
    }
}
