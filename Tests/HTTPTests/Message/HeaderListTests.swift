import Primitives
import Testing

@testable import HTTP

struct HeaderListTests {
    private func members(_ lines: [String]) -> [String] {
        var headers = Headers()
        for line in lines { headers.append(.cacheControl, line) }
        var members: [String] = []
        headers.forEachListMember(of: .cacheControl) { members.append(String($0)) }
        return members
    }

    @Test(
        arguments: [
            ([""], []), ([","], []), ([" , ,\t,"], []), (["a"], ["a"]), (["a,b"], ["a", "b"]),
            ([" a ,\tb ,"], ["a", "b"]),
            (["a", "b, c"], ["a", "b", "c"]), (["a=\"b, c\", d"], ["a=\"b, c\"", "d"]),
            (["a=\"b\\\", c\", d"], ["a=\"b\\\", c\"", "d"]),
            (["a=\"b, c"], ["a=\"b, c"]), (["\"", "a"], ["\"", "a"]), (["a=\"b\\"], ["a=\"b\\"]),
            (["a;q=1, b c"], ["a;q=1", "b c"]),
            (["a\\,b"], ["a\\", "b"]),
        ] as [([String], [String])])
    func `a list is split at the commas outside of quotes`(lines: [String], expected: [String]) {
        #expect(members(lines) == expected)
    }

    @Test func `a token is found as a whole member only`() {
        var headers = Headers()
        headers.append(.cacheControl, "max-age=5, No-Store")
        headers.append(.cacheControl, "private=\"no-cache, x\", must-revalidate;x")
        #expect(headers.containsToken(.cacheControl, "no-store"))
        #expect(!headers.containsToken(.cacheControl, "no-cache"))
        #expect(!headers.containsToken(.cacheControl, "no"))
        #expect(!headers.containsToken(.cacheControl, "max-age"))
        #expect(!headers.containsToken(.cacheControl, "must-revalidate"))
        #expect(!headers.containsToken(.vary, "no-store"))
    }

    @Test func `fields of one hop and those that Connection names do not go on`() {
        var headers = Headers()
        for name: HeaderName in [
            .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te,
            .transferEncoding,
            .upgrade, .http2Settings, .etag, .age,
        ] {
            headers.append(name, "x-own, , Age, bad name")
        }
        headers.append(HeaderName(token: "X-Own".utf8.span), "1")
        headers.removeConnectionFields()
        var output: [UInt8] = []
        headers.write(into: &output)
        #expect(String(output.span) == "ETag: x-own, , Age, bad name\r\n")
    }

    @Test func `Connection cannot take Host, Content-Length, Cache-Control or Early-Data away`() {
        var headers = Headers()
        headers.append(.host, "a")
        headers.append(.contentLength, "3")
        headers.append(.cacheControl, "no-store")
        headers.append(.earlyData, "1")
        headers.append(.connection, "close, host, content-length, cache-control, early-data")
        headers.removeConnectionFields()
        #expect(headers.count == 4)
        for name: HeaderName in [.host, .contentLength, .cacheControl, .earlyData] {
            #expect(headers.contains(name), "\(name.text)")
        }
    }
}
