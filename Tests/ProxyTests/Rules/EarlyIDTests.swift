internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let large = Feed.bytes(version: 0, items: 850)
private let next = Feed.bytes(version: 1, items: 850)

/// The ids of bodies that end later than the hold after their head, which are given out before the body is known.
@Suite(.timeLimit(.minutes(40))) struct EarlyIDTests {
    /// An upstream that sends a slow body, the next one to requests with `X-Version: 1`, and in `X-Fast: 1` at once.
    private func origin(_ field: String = "X-A: 1") throws -> Origin {
        try Origin { request, connection in
            let body = request["X-Version"] == nil ? large : next
            guard request["X-Fast"] == nil else { return _ = connection.send(ownResponse(body, field)) }
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=60", field,
                "Transfer-Encoding: chunked")
            connection.send(head + chunk(Array(body.prefix(100_000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(body.dropFirst(100_000))) + chunk([]))
        }
    }

    private func id(_ answer: WireMessage) throws -> String {
        let field = try #require(answer["Use-As-Dictionary"], "\(answer)")
        return try #require(UseAsDictionary.parse([field])).id
    }

    /// Asks for the next body over the slow one with an id, and returns the coding.
    private func coding(_ proxy: TestProxy, _ id: String, _ fields: String..., target: String = "/feed")
        throws
        -> String
    {
        let all = (["Dictionary-ID: \"\(id)\"", "X-Version: 1", "X-Fast: 1"] + fields).joined(
            separator: "\r\n")
        let answer = try proxy.fetch(target, over: large, all, accept: "dcz")
        #expect(try answer.carriesDecoded(next, over: large))
        return answer.coding
    }

    @Test(arguments: ["X-C: 1", "Authorization: Bearer ann"])
    func `clients with equal bytes and different ids all get deltas, also after a restart`(asked: String)
        throws
    {
        let folder = try TemporaryFolder()
        func start() throws -> TestProxy {
            try TestProxy(
                origin(), store: folder.file("store.sqlite"),
                change: { $0.store.keyFile = folder.file("key") })
        }
        var proxy = try start()
        let ids = try (0..<3).map { _ in try id(proxy.fetch("/feed", asked)) }
        #expect(Set(ids).count == 3)
        for _ in 0..<2 {
            for id in ids {
                #expect(try coding(proxy, id, asked) == "dcz")
                #expect(try coding(proxy, id, asked, target: "/other") == "identity")
            }
            #expect(try coding(proxy, "AAAAAAAAAAAAAAAAAAAAAA", asked) == "identity")
            proxy.stop()
            proxy = try start()
        }
    }

    @Test func `an id of another body, or of another chain, is as good as none`() throws {
        let proxy = try TestProxy(origin(), "explain: true")
        let ids = [
            try id(proxy.fetch("/other")), try id(proxy.fetch("/feed", "X-Version: 1")),
            try id(proxy.fetch("/feed", "Authorization: Bearer ann")),
        ]
        // The version of all clients without a login, whom others know.
        let right = try id(proxy.fetch("/feed"))
        func seen(_ body: [UInt8], _ id: String) throws -> String {
            let client = try proxy.connect()
            client.send(
                request(
                    "/feed",
                    [
                        "Accept-Encoding: dcz", "X-Version: 1", "X-Fast: 1", "Sec-Fetch-Site: cross-site",
                        available(body), "Dictionary-ID: \"\(id)\"",
                    ]))
            let answer = try client.receive()
            let fields = answer.fields.filter { !["date", "x-request-id"].contains($0.name.lowercased()) }.map
            {
                "\($0.name): "
                    + $0.value.split(separator: ";").filter { !$0.hasPrefix("micros=") }.joined(
                        separator: ";")
            }
            return (fields + ["\(answer.body.count) bytes"]).joined(separator: "\n")
        }
        let unknown = Noise.bytes(12_000, seed: 1)
        var answers: [String] = []
        for id in ids + ["AAAAAAAAAAAAAAAAAAAAAA", ""] {
            for body in [large, unknown] { answers.append(try seen(body, id)) }
        }
        #expect(Set(answers).count == 1)
        #expect(answers[0].contains("reason=dictionary-unknown"))
        #expect(try coding(proxy, right) == "dcz")
    }

    @Test func `an id goes with its version`() throws {
        let proxy = try TestProxy(origin())
        let id = try id(proxy.fetch("/feed"))
        let store = proxy.server.context.store
        let version = try #require(store.sharing.versionsToShare(max: 1).first)
        #expect(store.sharing.promises(of: version).count == 1)
        #expect(try coding(proxy, id) == "dcz")
        store.upkeep.sweep(now: version.lastWanted + 1_000_000_000)
        #expect(store.statistics.versions == 0)
        #expect(try coding(proxy, id) == "identity")
    }
}
