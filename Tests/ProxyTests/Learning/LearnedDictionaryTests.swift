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
          - {match: "/items/me", dictionary: {max_age: 60s}}
          - {match: "/items/:id", dictionary: {built: learned}}
          - {match: /page, announce: [/items/8], dictionary: off}
          - {match: "/*"}
        """
    private static let secret = "secret-of-one-user-0123456789"

    /// An origin with items, whose query tells their form and what makes them one user's.
    private func origin() throws -> Origin {
        try Origin { request, connection in
            if request.target == "/items/*?learned" {
                connection.send(
                    json(
                        Items.body(1), "Cache-Control: public, max-age=60",
                        #"Use-As-Dictionary: match="/items/*""#))
                return
            }
            if ["/items/me", "/items/8/reviews"].contains(request.target) {
                connection.send(json(Items.body(8), "Cache-Control: private, max-age=60"))
                return
            }
            let parts = request.target.split(separator: "?").map(String.init)
            guard let number = Int(parts[0].dropFirst("/items/".count)) else {
                connection.send(html([UInt8](repeating: 0x20, count: 400)))
                return
            }
            connection.send(Self.answer(to: request, number, parts.count > 1 ? parts[1] : ""))
        }
    }

    private static func answer(to request: WireMessage, _ number: Int, _ query: String) -> [UInt8] {
        let body = Items.body(number)
        let secret = body + Array(" \(Self.secret)".utf8)
        let shared = "Cache-Control: public, max-age=60"
        switch query {
        case "other":
            let text = String(decoding: body, as: UTF8.self).replacing(/[a-z]+/) { "\($0.output)q" }
            return json(Array(text.utf8), shared)
        case "shared": return json(secret, shared)
        case "mine": return json(secret + Array((request["X-Forwarded-For"] ?? "").utf8), shared)
        case "private": return json(secret, "Cache-Control: private, max-age=60")
        case "no-store": return json(secret, "Cache-Control: no-store, public")
        case "cookie": return json(secret, shared, "Set-Cookie: a=b")
        case "zero": return json(Items.body(20), shared)
        default: return json(body, shared)
        }
    }

    private func makeProxy(
        store: String = ":memory:", _ settings: String = settings
    ) throws -> TestProxy {
        let proxy = try TestProxy(origin(), settings, store: store)
        proxy.server.context.learned.changeShare(to: 1_000)
        return proxy
    }

    private func chain(_ host: String = "api.test") -> ChainKey {
        ChainKey(authority: host, match: "/items/*")
    }

    /// Has five clients fetch items, after the proxy has seen a first response of somebody.
    private func visit(
        _ proxy: TestProxy, items: ClosedRange<Int> = 20...39, query: String = "", _ field: String = "",
        host: String = "api.test"
    ) throws {
        proxy.server.context.learned.recordFirstVisit(of: chain(host), sentBytes: 0, client: 1, now: 0)
        for client in 1...5 {
            let connection = try proxy.connect()
            for number in items {
                let target = "/items/\(number)" + (query.isEmpty ? "" : "?\(query)")
                let fields = [forwarded(for: client)] + (field.isEmpty ? [] : [field])
                connection.send(request(target, fields, host: host))
                #expect(try connection.receive().status == 200)
            }
        }
    }

    /// Has five clients come back a minute later for many items, as far as the proxy counts them.
    private func comeBack(_ proxy: TestProxy, _ count: Int = 60, host: String = "api.test") {
        for client in 1...5 as ClosedRange<UInt128> {
            for item in 0...count {
                proxy.server.context.learned.recordFirstVisit(
                    of: chain(host), sentBytes: 300, client: client, now: item == 0 ? 0 : 60)
            }
        }
    }

    private func row(_ proxy: TestProxy) -> SavingsReport.Learned? {
        let context = proxy.server.context
        return context.routes.learners.first.map(context.learned.rows)?.first
    }

    private func wait(_ proxy: TestProxy, for reason: LearningReason) throws {
        try waitUntil("a step is \(reason), not \(row(proxy)?.reason ?? "none")") {
            proxy.server.context.learned.counts.contains { $0.count.reason == reason }
        }
    }

    /// Has a proxy learn a dictionary, and returns it as the page announces it.
    private func learn(_ proxy: TestProxy) throws -> (path: String, body: [UInt8]) {
        try visit(proxy)
        comeBack(proxy)
        try wait(proxy, for: .trained)
        return try dictionary(proxy)
    }

    private func dictionary(_ proxy: TestProxy) throws -> (path: String, body: [UInt8]) {
        let path = try #require(try proxy.announcedPath())
        let response = try proxy.fetch(path)
        #expect(response["Use-As-Dictionary"] == #"match="/items/*""#)
        return (path, response.body)
    }

    // MARK: First visits

    @Test func `a new client gets a path that it never fetched as a delta over what others got`() throws {
        let proxy = try makeProxy()
        #expect(try proxy.announcedPath() == nil)
        let (_, dictionary) = try learn(proxy)
        let plain = try proxy.fetch("/items/8", "Accept-Encoding: gzip")
        let first = try proxy.fetch("/items/8", over: dictionary)
        #expect(first.coding == "dcb")
        #expect(try first.carriesDecoded(Items.body(8), over: dictionary))
        #expect(first.body.count * 3 < plain.body.count * 2, "\(first.body.count) \(plain.body.count)")
        #expect(first["Use-As-Dictionary"] == "match=\"/items/8\"")
        let steps = "dictum_learning_steps_total{route=\"/items/:id\",reason="
        #expect(try proxy.metric(steps + "\"trained\"}") == 1)
        let routes = try proxy.admin("GET /routes HTTP/1.1", "Host: localhost").text
        #expect(routes.contains(#""learned":[{"bytes":\#(dictionary.count),"#))
        #expect(
            proxy.events.withLock { $0 }.contains {
                if case .info(let text) = $0 { text.contains("a dictionary is learned") } else { false }
            })
    }

    @Test(arguments: [
        ("Accept-Encoding: dcb, gzip", 1), ("Accept-Encoding: gzip", 0),
        ("Accept-Encoding: dcb\r\nAvailable-Dictionary: :\(Digest(of: [1].span).base64):", 0),
    ])
    func `only clients that could use a dictionary and have none count`(fields: String, clients: Int) throws {
        let proxy = try makeProxy()
        _ = try proxy.fetch("/items/8", forwarded(for: 1), fields)
        #expect(row(proxy)?.clients ?? 0 == clients)
    }

    @Test(arguments: [
        ("shared", "Authorization: Bearer 1"), ("shared", "Cookie: session=1"), ("shared", "X-Key: 1"),
        ("mine", ""), ("private", ""), ("no-store", ""), ("cookie", ""),
    ])
    func `what only one user's responses have is never in it`(query: String, field: String) throws {
        let proxy = try makeProxy()
        try visit(proxy, query: query, field)
        #expect(row(proxy)?.proven == 0)
        try visit(proxy, items: 40...59)
        #expect(row(proxy)?.proven == 20)
        comeBack(proxy)
        try wait(proxy, for: .trained)
        let text = String(decoding: try dictionary(proxy).body, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("isOnStock"))
    }

    @Test func `what everybody gets without a credential may be in it`() throws {
        let proxy = try makeProxy()
        try visit(proxy, query: "shared")
        #expect(row(proxy)?.proven == 20)
        comeBack(proxy)
        try wait(proxy, for: .trained)
        #expect(String(decoding: try dictionary(proxy).body, as: UTF8.self).contains(Self.secret))
    }

    @Test func `it is made of one host's responses for that host alone`() throws {
        let proxy = try makeProxy()
        try visit(proxy, items: 20...26)
        try visit(proxy, items: 20...39, host: "other.test")
        comeBack(proxy)
        try wait(proxy, for: .fewProven)
        comeBack(proxy, host: "other.test")
        try wait(proxy, for: .trained)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch("/page", "Sec-Fetch-Dest: document", host: "other.test")["Link"] != nil)
    }

    @Test func `no dictionary is made where none pays`() throws {
        let proxy = try makeProxy()
        try visit(proxy)
        // Of two responses each, none pays for its download.
        for client in 1...5 as ClosedRange<UInt128> {
            for (bytes, time) in [(0, 0), (9_000, 60)] {
                proxy.server.context.learned.recordFirstVisit(
                    of: chain(), sentBytes: bytes, client: client, now: time)
            }
        }
        try wait(proxy, for: .noGain)
        #expect(try proxy.announcedPath() == nil)
        #expect(row(proxy)?.bytes == nil)
    }

    @Test func `one user's response is never a delta over it, since clients choose what it has`() throws {
        let proxy = try makeProxy()
        let (_, dictionary) = try learn(proxy)
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "dcb")
        // Its match covers the paths of other routes, too.
        for path in ["/items/8?private", "/items/me", "/items/8/reviews"] {
            #expect(try proxy.fetch(path, over: dictionary).coding == "identity", "\(path)")
            #expect(try proxy.fetch(path, over: dictionary, "Cookie: a=b").coding == "identity", "\(path)")
        }
        let folder = try TemporaryFolder()
        try Data((1...3).flatMap(Items.body)).write(to: URL(filePath: folder.file("items.dict")))
        try proxy.reload(
            Self.settings.replacing("built: learned", with: "built: \"\(folder.file("items.dict"))\""))
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "dcb", "who has it still uses it")
        #expect(try proxy.fetch("/items/8?private", over: dictionary).coding == "identity")
    }

    @Test func `an upstream's dictionary for the same paths is not taken for one that was learned`() throws {
        let proxy = try makeProxy()
        try proxy.prove("/items/*?learned")
        let chain = chain()
        let reader = proxy.server.context.store.reader()
        let isThere = reader.newest(VersionKey(learnedFor: chain)) != nil
        #expect(isThere, "the key is the same")
        let isLearned = reader.learned(of: chain) != nil
        #expect(!isLearned)
        #expect(try proxy.announcedPath() == nil)
    }

    @Test func `equal bodies count once`() throws {
        let proxy = try makeProxy(
            Self.settings.replacing("/items/me", with: "/none"))
        let chain = chain()
        proxy.server.context.learned.recordFirstVisit(of: chain, sentBytes: 0, client: 1, now: 0)
        // Seven bodies, of which one is that of fourteen paths.
        for number in 20...26 { try proxy.prove("/items/\(number)") }
        for number in 0...12 {
            try proxy.prove("/items/020" + String(repeating: "0", count: number) + "?zero")
        }
        #expect(row(proxy)?.proven == 20)
        comeBack(proxy)
        try wait(proxy, for: .fewProven)
    }

    // MARK: Life

    @Test func `it stays over a restart, and clients that hold it get deltas`() throws {
        let folder = try TemporaryFolder()
        let proxy = try makeProxy(store: folder.file("store.db"))
        let (path, dictionary) = try learn(proxy)
        proxy.stop()
        let next = try makeProxy(store: folder.file("store.db"))
        #expect(try next.announcedPath() == path)
        #expect(try next.fetch(path).carries(dictionary))
        #expect(try next.fetch("/items/8", over: dictionary).coding == "dcb")
    }

    @Test(arguments: ["routes: [{match: \"/items/:id\"}]", "dictionaries: off\n" + settings])
    func `after a reload without it nobody gets it`(settings: String) throws {
        let proxy = try makeProxy()
        let (path, dictionary) = try learn(proxy)
        try proxy.reload(settings)
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "identity")
        #expect(try proxy.fetch(path).status == 404)
        try proxy.reload(Self.settings)
        #expect(try proxy.announcedPath() == path)
    }

    @Test func `the operator's former dictionary is not taken for one that was learned`() throws {
        let folder = try TemporaryFolder()
        let bytes = (1...3).flatMap(Items.body)
        try Data(bytes).write(to: URL(filePath: folder.file("items.dict")))
        let proxy = try makeProxy(
            Self.settings.replacing("built: learned", with: "built: \"\(folder.file("items.dict"))\""))
        let former = try #require(try proxy.announcedPath())
        try proxy.reload(Self.settings)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch("/items/8", over: bytes).coding == "dcb", "who has it still uses it")
        #expect(try learn(proxy).path != former)
    }

    @Test func `once responses change their form, it is learned anew, and comes as a delta over the former`()
        throws
    {
        let proxy = try makeProxy()
        let (former, old) = try learn(proxy)
        let context = proxy.server.context
        let version = try #require(context.store.reader().learned(of: chain()))
        // First responses over it are 4 times shorter, and then 2 times.
        for client in 0..<BuiltSavings.plainCountMin {
            context.linkRegistry.recordFirst(
                of: chain(), over: nil, bodyBytes: 1_000, sentBytes: 400, client: UInt128(client))
        }
        for sentBytes in [100, 200] {
            for client in 0..<BuiltSavings.windowCount {
                context.linkRegistry.recordFirst(
                    of: chain(), over: version, bodyBytes: 1_000, sentBytes: sentBytes,
                    client: UInt128(client))
            }
        }
        #expect(row(proxy)?.ratio == 2)
        try visit(proxy, items: 40...79, query: "other")
        comeBack(proxy)
        try wait(proxy, for: .replaced)
        try wait(proxy, for: .tooLittle)
        let path = try #require(try proxy.announcedPath())
        #expect(path != former)
        let new = try proxy.fetch(path).body
        let delta = try proxy.fetch(path, over: old)
        #expect(delta.coding == "dcb")
        #expect(try delta.carriesDecoded(new, over: old))
        let target = "/items/90?other"
        #expect(try proxy.fetch(target, over: old).coding == "dcb", "the former one keeps its time")
        #expect(
            try proxy.fetch(target, over: new).body.count < proxy.fetch(target, over: old).body.count)
        #expect(try proxy.fetch(former).carries(old))
    }

    @Test func `one that does not pay is compared with a new one`() throws {
        let folder = try TemporaryFolder()
        let first = try makeProxy(store: folder.file("store.db"))
        let (path, _) = try learn(first)
        first.stop()
        // After a restart it is not in memory.
        let proxy = try makeProxy(store: folder.file("store.db"))
        let (registry, now) = (proxy.server.context.linkRegistry, SystemClock.unixSeconds)
        registry.recordFirst(of: chain(), over: nil, bodyBytes: 1_000, sentBytes: 100, client: 1)
        registry.changeLedger(of: chain().hashValue) { ledger in
            for client in 0..<20 as Range<UInt128> { ledger.recordCost(1_000, of: client, at: now) }
            for time in [601, 1_202] { ledger.recordCost(1_000, of: 1 << 80, at: now + time) }
        }
        try visit(proxy)
        comeBack(proxy)
        try wait(proxy, for: .tooLittle)
        try wait(proxy, for: .noGain)
        #expect(try proxy.fetch(path).status == 200, "no better one can be made")
    }

    // MARK: What comes in between

    /// Has a training wait between its choice of versions and its reading, while something happens.
    private func train(_ proxy: TestProxy, while change: () throws -> Void) throws {
        let (first, second) = (Gate(), Gate())
        let learned = proxy.server.context.learned
        try #require(learned.worker.submit { first.wait() })
        try visit(proxy)
        comeBack(proxy)
        // In turn with the proxy's own timer, so that it has begun.
        let context = proxy.server.context
        context.shared.maintenance.sync {
            learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        }
        try #require(learned.worker.submit { second.wait() })
        first.open()
        try change()
        second.open()
    }

    @Test func `a purge in between reaches what was not learned yet`() throws {
        let proxy = try makeProxy()
        try train(proxy) {
            let answer = try proxy.admin(
                "POST /purge?path=/items/25 HTTP/1.1", "Host: localhost", "Content-Type: application/json")
            #expect(answer.status == 200)
        }
        try wait(proxy, for: .noPlace)
        #expect(try proxy.announcedPath() == nil)
    }

    @Test func `a purge of a path forgets the dictionary, which has its text`() throws {
        let proxy = try makeProxy()
        let (path, _) = try learn(proxy)
        let answer = try proxy.admin(
            "POST /purge?path=/items/25 HTTP/1.1", "Host: localhost", "Content-Type: application/json")
        #expect(answer.status == 200)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch(path).status == 404)
    }

    @Test(arguments: [
        "dictionaries: off\n" + settings, settings.replacing("built: learned", with: "max_age: 60s"),
    ])
    func `a reload in between that does not want it ends it`(settings: String) throws {
        let proxy = try makeProxy()
        try train(proxy) {
            try proxy.reload(settings)
            let context = proxy.server.context
            context.learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        }
        try wait(proxy, for: .abandoned)
        try waitUntil("all is given back") { proxy.server.context.compressionMemory.takenBytes == 0 }
        try proxy.reload(Self.settings)
        #expect(try proxy.announcedPath() == nil)
    }

    // MARK: Budgets

    @Test func `without memory it waits, and all that a training took is given back`() throws {
        let proxy = try makeProxy()
        let memory = proxy.server.context.compressionMemory
        let all = memory.limitBytes - (8 << 20)
        try visit(proxy)
        try #require(memory.reserve(all))
        comeBack(proxy)
        try wait(proxy, for: .noMemory)
        memory.release(all)
        proxy.server.context.learned.forgetFailures()
        try wait(proxy, for: .trained)
        try waitUntil("it is given back") { memory.takenBytes == 0 }
    }

    @Test func `one training uses up the processor time of many minutes`() throws {
        let proxy = try makeProxy()
        proxy.server.context.learned.changeShare(to: 0.000_001)
        _ = try learn(proxy)
        try visit(proxy, host: "other.test")
        comeBack(proxy, host: "other.test")
        try wait(proxy, for: .noProcessorTime)
    }

    @Test func `after the end nothing is begun`() throws {
        let proxy = try makeProxy()
        try visit(proxy)
        let context = proxy.server.context
        context.learned.stop()
        comeBack(proxy)
        context.learned.keepUp(context.learningTerms, now: SystemClock.unixSeconds)
        #expect(
            context.learned.counts.isEmpty
                || context.learned.counts.allSatisfy { $0.count.reason == .fewFirstVisits })
        #expect(context.compressionMemory.takenBytes == 0)
    }
}
