internal import Dictionaries
internal import Primitives
internal import Proxy
internal import Storage
internal import TestSupport
internal import Testing

/// Tests which clients are offered a new body, through requests.
@Suite(.timeLimit(.minutes(40))) struct OfferRenewalTests {
    /// Returns a proxy whose upstream sends a new body in every response.
    private func changing() throws -> TestProxy {
        let next = Guarded(0)
        let origin = try Origin { _, connection in
            let number = next.withLock { next in
                next += 1
                return next
            }
            connection.send(json(Self.numbered(number)))
        }
        return try TestProxy(
            origin, #"routes: [{match: "/*", dictionary: {covers: path, delivery: in_band}}]"#)
    }

    /// Returns a body in which only a number changes, so that deltas over an old version stay short.
    private static func numbered(_ number: Int) -> [UInt8] {
        Array(#"{"number":\#(number),"feed":"#.utf8) + Feed.bytes(version: 1, items: 20) + Array("}".utf8)
    }

    @Test func `a client with a usable dictionary keeps it, one without is offered each body`() throws {
        let proxy = try changing()
        let first = try proxy.fetch("/feed")
        #expect(first["Use-As-Dictionary"] != nil)
        for number in 2...5 {
            let answer = try proxy.fetch("/feed", over: first.body)
            #expect(answer.coding == "dcz" && answer["Use-As-Dictionary"] == nil)
            #expect(try answer.carriesDecoded(Self.numbered(number), over: first.body))
        }
        #expect(proxy.server.context.store.statistics.versions == 1)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
    }

    @Test func `a 304 of an upstream with dates alone offers the held version again`() throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = try Origin { request, connection in
            let isHeld = request["If-Modified-Since"] == date
            connection.send(
                isHeld
                    ? wire("HTTP/1.1 304 Not Modified", "Cache-Control: public")
                    : json(Self.numbered(1), "Last-Modified: \(date)"))
        }
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", "If-Modified-Since: \(date)")
        #expect(answer.status == 304 && answer["Use-As-Dictionary"] == #"match="/feed""#)
        let other = try proxy.fetch("/feed", "If-Modified-Since: \(date)", #"If-None-Match: "other""#)
        #expect(other.status == 304 && other["Use-As-Dictionary"] == nil, "the tag is the client's question")
    }

    @Test func `invented digests and queries take nothing from clients that hold a version`() throws {
        let proxy = try changing()
        let held = try proxy.fetch("/feed").body
        for number in 0..<400 {
            let invented = available(Array("invented \(number)".utf8))
            _ = try proxy.fetch("/feed?\(number)", "Accept-Encoding: dcz", invented)
            if number % 20 == 0 {
                #expect(try proxy.fetch("/feed", over: held).coding == "dcz", "after \(number)")
                #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil, "after \(number)")
            }
        }
    }
}
