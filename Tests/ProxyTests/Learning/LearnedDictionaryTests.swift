internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// `built: learned`: the proxy makes the dictionary of first responses by itself.
@Suite(.timeLimit(.minutes(40))) struct LearnedDictionaryTests {
    private static let settings = """
        routes:
          - {match: "/items/:id", dictionary: {built: learned}}
          - {match: /page, announce: [/items/8], dictionary: off}
          - {match: "/*"}
        """
    private static let secret = "secret-of-one-user-0123456789"

    /// An origin with items, whose form `kind` changes; some responses have a secret.
    private func origin(_ kind: Guarded<String> = Guarded("first")) throws -> Origin {
        try Origin { request, connection in
            guard let number = Items.number(of: request.target) else {
                connection.send(html([UInt8](repeating: 0x20, count: 400)))
                return
            }
            connection.send(Self.answer(to: request, number, kind.withLock { $0 }))
        }
    }

    private static func answer(to request: WireMessage, _ number: Int, _ kind: String) -> [UInt8] {
        var body = Items.body(number)
        if kind != "first" {
            body = Array(
                String(decoding: body, as: UTF8.self).replacing(/[a-z]+/) { "\($0.output)\(kind)" }.utf8)
        }
        let secret = Array(" \(Self.secret) \(request["X-User"] ?? "")".utf8)
        return switch request["X-Kind"] {
        // A mistake of many APIs.
        case "public": json(body + secret, "Cache-Control: public, max-age=60")
        case "private": json(body + secret, "Cache-Control: private, max-age=60")
        case "no-store": json(body + secret, "Cache-Control: no-store, public")
        case "cookie": json(body + secret, "Cache-Control: public, max-age=60", "Set-Cookie: a=b")
        default: json(body, "Cache-Control: public, max-age=60")
        }
    }

    private func makeProxy(
        _ origin: Origin, store: String = ":memory:", _ settings: String = settings
    ) throws -> TestProxy {
        let proxy = try TestProxy(origin, settings, store: store)
        proxy.server.context.learned.changeShare(to: 1_000)
        return proxy
    }

    /// Has clients fetch the same items.
    private func visit(
        _ proxy: TestProxy, items: ClosedRange<Int> = 20...39, clients: ClosedRange<Int> = 1...5,
        _ fields: String...
    ) throws {
        for client in clients {
            let connection = try proxy.connect()
            for number in items {
                connection.send(
                    request(
                        "/items/\(number)",
                        ["Accept-Encoding: gzip, dcb, dcz", forwarded(for: client)] + fields))
                _ = try connection.receive()
            }
        }
        comeBack(proxy, items.count)
    }

    /// Has clients come back a minute later for as many other items, as far as the proxy counts them.
    private func comeBack(_ proxy: TestProxy, _ count: Int) {
        let context = proxy.server.context
        for chain in context.routes.learners.compactMap({ $0.builtChain(authority: "api.test") }) {
            for client in 1...5 as ClosedRange<UInt128> {
                for item in 0...count {
                    context.learned.recordFirstVisit(
                        of: chain, sentBytes: 300, client: client, now: item == 0 ? 0 : 60)
                }
            }
        }
    }

    private func row(_ proxy: TestProxy) throws -> LearnedState? {
        let context = proxy.server.context
        return try #require(context.routes.learners.first.map(context.learned.rows)).first
    }

    private func wait(_ proxy: TestProxy, for reason: LearningReason) throws {
        try waitUntil("the reason is \(reason), not \(try row(proxy)?.reason ?? "none")") {
            try row(proxy)?.reason == reason.rawValue
        }
    }

    /// Fetches the dictionary that the page announces.
    private func dictionary(_ proxy: TestProxy) throws -> (path: String, body: [UInt8]) {
        let path = try #require(try proxy.announcedPath())
        let response = try proxy.fetch(path)
        #expect(response["Use-As-Dictionary"] == #"match="/items/*""#)
        return (path, response.body)
    }

    // MARK: First visits

    @Test func `a new client gets a path that it never fetched as a delta over what others got`() throws {
        let proxy = try makeProxy(origin())
        #expect(try proxy.announcedPath() == nil)
        try visit(proxy)
        try wait(proxy, for: .trained)
        let (_, dictionary) = try dictionary(proxy)
        let plain = try proxy.fetch("/items/8", "Accept-Encoding: gzip")
        let first = try proxy.fetch("/items/8", over: dictionary)
        #expect(first.coding == "dcb")
        #expect(try first.carriesDecoded(Items.body(8), over: dictionary))
        #expect(first.body.count * 3 < plain.body.count * 2, "\(first.body.count) \(plain.body.count)")
        #expect(first["Use-As-Dictionary"] == "match=\"/items/8\"")
        let steps = "dictum_learning_steps_total{route=\"/items/:id\",reason="
        #expect(try proxy.metric(steps + "\"trained\"}") == 1)
        let routes = try proxy.admin("GET /routes HTTP/1.1", "Host: localhost").text
        #expect(routes.contains(#""learned":[{"bytes":\#(dictionary.count),"host":"api.test","ratio":"#))
        #expect(
            proxy.events.withLock { $0 }.contains {
                if case .info(let text) = $0 { text.contains("a dictionary is learned") } else { false }
            })
    }

    @Test func `what only one user's responses have is never in it`() throws {
        let proxy = try makeProxy(origin())
        for (kind, credential) in [
            ("public", "Authorization: Bearer 1"), ("public", "Cookie: session=1"),
            ("private", "Accept: */*"),
            ("no-store", "Accept: */*"), ("cookie", "Accept: */*"),
        ] {
            try visit(proxy, "X-Kind: \(kind)", credential)
        }
        // Without a credential, but to one client each.
        for client in 1...5 {
            try visit(proxy, clients: client...client, "X-Kind: public", "X-User: \(client)")
        }
        try wait(proxy, for: .fewProven)
        #expect(try proxy.announcedPath() == nil)
        try visit(proxy, items: 40...59)
        proxy.server.context.learned.forgetFailures()
        try wait(proxy, for: .trained)
        let text = String(decoding: try dictionary(proxy).body, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("isOnStock"))
    }

    @Test func `it is made of one host's responses for that host alone`() throws {
        let proxy = try makeProxy(origin())
        for number in 20...39 { try proxy.prove("/items/\(number)", host: "other.test") }
        try visit(proxy, items: 20...26, clients: 1...12)
        try visit(proxy, items: 20...26, clients: 1...12)
        try wait(proxy, for: .fewProven)
        #expect(try proxy.announcedPath() == nil)
    }

    @Test func `no dictionary is made where none pays`() throws {
        let proxy = try makeProxy(origin())
        let route = try #require(proxy.server.context.routes.learners.first)
        let chain = try #require(route.builtChain(authority: "api.test"))
        let store = proxy.server.context.store
        for path in (20...39).map({ "/items/\($0)" }) {
            let key = VersionKey(
                chain: ChainKey(authority: "api.test", match: path), url: path, variant: "")
            let noise = Body((0..<600).map { _ in .random(in: 0...255) })
            store.provePublic(
                try store.admit(
                    VersionCandidate(
                        noise, key: key, policy: route.admission, contentType: "application/json"),
                    now: SystemClock.unixSeconds))
        }
        for client in 1...5 {
            proxy.server.context.learned.recordFirstVisit(
                of: chain, sentBytes: 0, client: UInt128(client), now: 0)
            proxy.server.context.learned.recordFirstVisit(
                of: chain, sentBytes: 20 * 600, client: UInt128(client), now: 60)
        }
        try wait(proxy, for: .noGain)
        #expect(try proxy.announcedPath() == nil)
        #expect(try row(proxy)?.bytes == nil)
    }

    // MARK: Life

    @Test func `it stays over a restart, and clients that hold it get deltas`() throws {
        let folder = try TestFolder()
        let proxy = try makeProxy(origin(), store: folder.file("store.db"))
        try visit(proxy)
        try wait(proxy, for: .trained)
        let (path, dictionary) = try dictionary(proxy)
        proxy.stop()
        let next = try makeProxy(origin(), store: folder.file("store.db"))
        #expect(try next.announcedPath() == path)
        #expect(try next.fetch(path).carries(dictionary))
        #expect(try next.fetch("/items/8", over: dictionary).coding == "dcb")
    }

    @Test(arguments: ["routes: [{match: \"/items/:id\"}]", "dictionaries: off\n" + settings])
    func `after a reload without it nobody gets it`(settings: String) throws {
        let proxy = try makeProxy(origin())
        try visit(proxy)
        try wait(proxy, for: .trained)
        let (path, dictionary) = try dictionary(proxy)
        try proxy.reload(settings)
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "identity")
        #expect(try proxy.fetch(path).status == 404)
        try proxy.reload(Self.settings)
        #expect(try proxy.announcedPath() == path)
    }

    @Test func `once responses change their form, it is learned anew, and comes as a delta over the former`()
        throws
    {
        let kind = Guarded("first")
        let proxy = try makeProxy(origin(kind))
        try visit(proxy)
        try wait(proxy, for: .trained)
        let (former, old) = try dictionary(proxy)
        kind.withLock { $0 = "other" }
        // A version counts if it has come after the second of the training.
        let trainedAt = SystemClock.unixSeconds
        try waitUntil("the next second") { SystemClock.unixSeconds > trainedAt }
        try visit(proxy, items: 40...79)
        let context = proxy.server.context
        let ratio = try row(proxy)?.ratio
        let later = SystemClock.unixSeconds + LearningPlan.measureSeconds
        context.learned.keepUp(context.learningTerms, now: later)
        try waitUntil("it was measured") {
            try row(proxy)?.ratio.map { $0 != ratio } ?? false
        }
        try wait(proxy, for: .replaced)
        let path = try #require(try proxy.announcedPath())
        #expect(path != former)
        let new = try proxy.fetch(path).body
        let delta = try proxy.fetch(path, over: old)
        #expect(delta.coding == "dcb")
        #expect(try delta.carriesDecoded(new, over: old))
        #expect(try proxy.fetch("/items/90", over: old).coding == "dcb", "the former one keeps its time")
        #expect(
            try proxy.fetch("/items/90", over: new).body.count
                < proxy.fetch("/items/90", over: old).body.count)
        #expect(try proxy.fetch(former).carries(old))
    }

    // MARK: Budgets

    @Test func `without memory it waits, and all that a training took is given back`() throws {
        let proxy = try makeProxy(origin())
        let memory = proxy.server.context.compressionMemory
        let all = memory.limitBytes / 2 + 1
        try waitUntil("nothing else is taken") { memory.reserve(all) }
        try visit(proxy)
        try wait(proxy, for: .noMemory)
        memory.release(all)
        proxy.server.context.learned.forgetFailures()
        try wait(proxy, for: .trained)
        try waitUntil("it is given back") { memory.takenBytes == 0 }
    }

    @Test func `one training uses up the processor time of many minutes`() throws {
        let proxy = try makeProxy(origin())
        proxy.server.context.learned.changeShare(to: 0.000_001)
        try visit(proxy)
        try wait(proxy, for: .trained)
        let context = proxy.server.context
        let later = SystemClock.unixSeconds + LearningPlan.measureSeconds
        context.learned.keepUp(context.learningTerms, now: later)
        #expect(try row(proxy)?.reason == LearningReason.noProcessorTime.rawValue)
    }

    @Test func `after the end nothing is begun`() throws {
        let proxy = try makeProxy(origin())
        try visit(proxy, items: 20...21)
        proxy.stop()
        let context = proxy.server.context
        let route = try #require(context.routes.learners.first)
        let chain = try #require(route.builtChain(authority: "api.test"))
        for client in 1...5 {
            for time in [0, 60] {
                context.learned.recordFirstVisit(
                    of: chain, sentBytes: 9_999, client: UInt128(client), now: time)
            }
        }
        context.learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        #expect(context.learned.rows(of: route).first?.reason == nil)
        #expect(context.compressionMemory.takenBytes == 0)
    }
}
