internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// Feeds that change too often and routes that cover too much, as the process and foreign tools see them.
@Suite(.timeLimit(.minutes(10))) struct ServedChurnTests {
    private func exchange(_ client: WireSocket, _ target: String, _ dictionary: [UInt8]? = nil) throws
        -> WireMessage
    {
        let held = dictionary.map { ["Available-Dictionary: :\(Digest(of: $0.span).base64):"] } ?? []
        client.send(
            wire((["GET \(target) HTTP/1.1", "Host: api.test"] + held).joined(separator: "\r\n")))
        return try client.receive()
    }

    @Test
    func `a feed that changes with every request fills the store at intervals, and zstd decodes its deltas`()
        throws
    {
        let next = Guarded(0)
        let bodies = Guarded<[[UInt8]]>([])
        let origin = try Origin { _, connection in
            let number = next.withLock { next in
                next += 1
                return next
            }
            let body = Feed.bytes(version: number, items: 40)
            bodies.withLock { $0.append(body) }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: public, max-age=60",
                    body: body))
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        let first = try exchange(client, "/feed").body
        for _ in 0..<17 { _ = try exchange(client, "/feed") }
        for _ in 0..<200 { _ = try exchange(client, "/feed", first) }
        let begin = Date()
        var held: [UInt8] = []
        var offers = 0
        // Until one is admitted, and then fifty more.
        var after = 0
        while after < 50 {
            let answer = try exchange(client, "/feed")
            if answer["Use-As-Dictionary"] != nil {
                offers += 1
                held = answer.body
            }
            if !held.isEmpty { after += 1 }
        }
        // An interval of a second, so one in each second that went by, and the first.
        #expect(offers <= Int(Date().timeIntervalSince(begin)) + 2)
        try proxy.folder.write(held, to: "held")
        let delta = try proxy.curl("/feed", "dcz", over: "held")
        #expect(delta.head["Content-Encoding"] == "dcz")
        try proxy.folder.write(Array(delta.body.dropFirst(40)), to: "delta.zst")
        let decoded = try RunningProcess.run(
            ["zstd", "-q", "-d", "-c", "-D", "held", "delta.zst"], of: "/usr/bin/env", in: proxy.folder.path)
        #expect(decoded.output == bodies.withLock { $0.last })
    }

    @Test func `a route that covers too much stops offering, and the log names its match`() throws {
        let origin = try Origin { request, connection in
            let body = Feed.bytes(version: request.target.count * 7, items: 20)
            connection.send(
                wire(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: public, max-age=60",
                    body: body))
        }
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(),
            #"routes: [{match: "/items/*", dictionary: {covers: pattern, delivery: in_band}}]"#)
        let client = try WireSocket(port: proxy.port)
        #expect(try exchange(client, "/items/0")["Use-As-Dictionary"] != nil)
        for number in 0..<64 {
            _ = try exchange(client, "/items/\(number % 40)", Noise.bytes(64, seed: UInt64(number)))
        }
        #expect(try exchange(client, "/items/0")["Use-As-Dictionary"] == nil)
        let log = try proxy.process.waitFor("chain-too-wide")
        let line = try #require(log.split(separator: "\n").first { $0.contains("chain-too-wide") })
        #expect(line.contains("/items/*") || line.contains(#"\/items\/*"#))
        #expect(line.contains("warning"))
    }
}
