internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// Link delivery as processes see it: `dictum fetch`, curl and foreign decoders against `dictum serve`.
@Suite(.timeLimit(.minutes(40))) struct FetchLinkDeliveryTests {
    /// An upstream whose every response but the first three is a new version that no client would keep.
    private func changing() throws -> Origin {
        let version = Guarded<Int>(0)
        return try Origin { _, connection in
            let number = version.withLock { value in
                value += 1
                return value
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, no-cache",
                    body: feed(max(1, number - 2))))
        }
    }

    private static let routes = #"routes: [{match: "/*", dictionary: {delivery: link}}]"#

    @Test(arguments: [("dcz,zstd", "dcz", "zstd"), ("dcb,br", "dcb", "br")])
    func `an answer that is not kept brings a Link, and from then on only the difference travels`(
        accept: String, delta: String, plain: String
    ) throws {
        let proxy = try ServedProxy(changing(), in: TemporaryFolder(), Self.routes)
        try proxy.prove("/feed")
        let fetching = try Fetching()
        for number in 1...3 {
            let fetched = try fetching.fetch(proxy.url("/feed"), "--accept", accept)
            #expect(fetched.body == feed(number + 1))
            #expect(fetched.report.coding == (number == 1 ? plain : delta))
            #expect(fetched.report.stored == (number == 1), "the named version is fetched once")
            #expect(fetched.report.advertised == (number == 1 ? nil : Body(feed(1)).digest.hex))
        }
        #expect(proxy.origin.requests.map(\.target) == Array(repeating: "/feed", count: 6))
    }

    @Test(arguments: [
        ("dcz", "tail -c +41 delta | zstd -dcq -D old"), ("dcb", "tail -c +37 delta | brotli -dc -D old"),
    ])
    func `after kill -9 the named version is still named, and comes as a delta that others decode`(
        coding: String, decode: String
    ) throws {
        let folder = try TemporaryFolder()
        let before = try ServedProxy(changing(), in: folder, Self.routes)
        for client in 1...3 {
            _ = try before.curl(
                "/feed", "-H", "X-Forwarded-For: 203.0.113.\(client)", "-H", "X-Forwarded-Proto: https")
        }
        let link = try #require(try before.curl("/feed").head["Link"])
        #expect(try before.curl("/feed").head["Link"] == link)
        try waitUntil("one of three versions is pinned on disk") {
            try before.sqlite("SELECT count(*), sum(pinned_until > 0) FROM version") == "3|1"
        }
        before.process.stop()
        #expect(try before.process.result().status == 128 + 9)

        let proxy = try ServedProxy(changing(), in: folder, Self.routes)
        let target = try #require(link.firstMatch(of: /<([^>]*)>; rel="compression-dictionary"/)?.output.1)
        let plain = try proxy.curl(String(target))
        #expect(plain.carries(feed(1)))
        #expect(plain.head["Use-As-Dictionary"] == #"match="/feed", match-dest=("")"#)
        try folder.write(feed(2), to: "old")
        let delta = try proxy.delta(String(target), coding, over: "old")
        #expect(delta.body.count * 20 < feed(1).count)
        try folder.write(delta.body, to: "delta")
        let decoded = try RunningProcess.run(["-c", decode], of: "/bin/bash", in: folder.path)
        #expect(decoded.output == feed(1))
        #expect(try proxy.curl("/feed").head["Link"] == link)
    }

    @Test func `an offer that no browser keeps is a warning in the log`() throws {
        let proxy = try ServedProxy(
            changing(), in: TemporaryFolder(), #"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#)
        for _ in 1...2 { _ = try proxy.curl("/feed") }
        let errors = try proxy.process.terminate().errors
        #expect(errors.components(separatedBy: "no browser keeps (no-cache)").count == 2)
    }
}
