import Testing

@testable import HTTP

struct HeaderNameSetTests {
    private static let own = HeaderName(token: "x-own".utf8.span)

    @Test func `only lines with its names go, well known or not, whatever their case`() throws {
        var headers = try parsed("ETAG: 1\r\nX-Own: 2\r\nX-Owner: 3\r\nDate: 4\r\netag: 5\r\n")
        let names: HeaderNameSet = [.etag, Self.own]
        #expect(headers.containsAny(of: names))
        headers.removeAll(names)
        #expect(written(headers) == "X-Owner: 3\r\nDate: 4\r\n")
        #expect(!headers.containsAny(of: names))
        headers.removeAll([])
        #expect(headers.count == 2)
    }

    @Test func `each well-known name has a place of its own`() {
        for name in HeaderNameTable.names {
            let set: HeaderNameSet = [HeaderName(token: name.utf8.span)]
            let found = HeaderNameTable.names.filter { other in
                var headers = Headers()
                headers.append(HeaderName(token: other.utf8.span), "")
                return headers.containsAny(of: set) && !headers.containsAny(outside: set)
            }
            #expect(found == [name])
        }
    }

    @Test func `the fields of a 304 replace all lines of their names, in its order`()
        throws
    {
        var stored = try parsed("Server: a\r\nX-Own: 1\r\nVary: b\r\nX-OWN: 2\r\nContent-Length: 9\r\n")
        let new = try parsed("x-own: 3\r\nContent-Length: 0\r\nETag: \"t\"\r\nServer: c\r\nServer: d\r\n")
        stored.update(with: new, keeping: [.contentLength])
        #expect(
            written(stored)
                == "Vary: b\r\nContent-Length: 9\r\nx-own: 3\r\nETag: \"t\"\r\nServer: c\r\nServer: d\r\n")
    }

    @Test func `a section holds the lines of another only if each is the same byte by byte`() throws {
        let stored = try parsed("ETag: \"a\"\r\nCache-Control: max-age=1\r\nX-Own: 1\r\n")
        #expect(stored.holdsLines(of: try parsed("X-Own: 1\r\nETag: \"a\"\r\n"), ignoring: []))
        #expect(!stored.holdsLines(of: try parsed("ETag: \"A\"\r\n"), ignoring: []))
        #expect(!stored.holdsLines(of: try parsed("X-Own: 12\r\n"), ignoring: []))
        #expect(!stored.holdsLines(of: try parsed("Date: now\r\nETag: \"a\"\r\n"), ignoring: []))
        #expect(stored.holdsLines(of: try parsed("Date: now\r\nETag: \"a\"\r\n"), ignoring: [.date]))
    }
}
