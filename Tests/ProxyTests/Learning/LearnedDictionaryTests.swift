internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// `built: learned`: what the proxy makes a dictionary of by itself, and whom it serves.
@Suite(.timeLimit(.minutes(40))) struct LearnedDictionaryTests {
    // MARK: First visits

    @Test func `a new client gets a path that it never fetched as a delta over what others got`() throws {
        let proxy = try TestProxy.learning()
        #expect(try proxy.announcedPath() == nil)
        let (_, dictionary) = try proxy.learnDictionary()
        #expect(proxy.learnedRow?.clients == 0, "those visits are used up")
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
                $0.level == .info && $0.text.contains("a dictionary is learned")
            })
    }

    @Test(arguments: [
        ("Accept-Encoding: dcb, gzip", 1), ("Accept-Encoding: gzip", 0),
        ("Accept-Encoding: dcb\r\nAvailable-Dictionary: :\(Digest(of: [1].span).base64):", 0),
    ])
    func `only clients that could use a dictionary and have none count`(fields: String, clients: Int) throws {
        let proxy = try TestProxy.learning()
        _ = try proxy.fetch("/items/8", forwarded(for: 1), fields)
        #expect(proxy.learnedRow?.clients ?? 0 == clients)
    }

    @Test func `the report has with each route what was learned for it, and not for another`() throws {
        let proxy = try TestProxy(
            Origin(json(Items.body(8))),
            """
            routes:
              - {match: "/items/:id", dictionary: {built: learned}}
              - {match: "/goods/:id", dictionary: {built: learned}}
              - {match: /page, announce: [/items/8, /goods/8], dictionary: off}
            """)
        for (path, client) in [("/items/8", 1), ("/goods/8", 2), ("/goods/8", 3)] {
            _ = try proxy.fetch(path, forwarded(for: client), "Accept-Encoding: dcb, gzip")
        }
        #expect(try proxy.report().routes.map { $0.learned?.map(\.clients) } == [[1], [2], nil])
    }

    @Test(arguments: [
        ("shared", "Authorization: Bearer 1"), ("shared", "Cookie: session=1"), ("shared", "X-Key: 1"),
        ("mine", ""), ("private", ""), ("no-store", ""), ("cookie", ""),
    ])
    func `what only one user's responses have is never in it`(query: String, field: String) throws {
        let proxy = try TestProxy.learning()
        try proxy.visit(query: query, field)
        #expect(proxy.learnedRow?.proven == 0)
        try proxy.visit(items: 40...59)
        #expect(proxy.learnedRow?.proven == 20)
        proxy.comeBack()
        try proxy.wait(for: .trained)
        let text = String(decoding: try proxy.learnedDictionary().body, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("isOnStock"))
    }

    @Test func `what everybody gets without a credential may be in it`() throws {
        let proxy = try TestProxy.learning()
        try proxy.visit(query: "shared")
        #expect(proxy.learnedRow?.proven == 20)
        proxy.comeBack()
        try proxy.wait(for: .trained)
        #expect(
            String(decoding: try proxy.learnedDictionary().body, as: UTF8.self).contains(
                LearningOrigin.secret))
    }

    @Test func `it is made of one host's responses for that host alone`() throws {
        let proxy = try TestProxy.learning()
        try proxy.visit(items: 20...26)
        try proxy.visit(items: 20...39, host: "other.test")
        proxy.comeBack()
        try proxy.wait(for: .fewProven)
        proxy.comeBack(host: "other.test")
        try proxy.wait(for: .trained)
        #expect(try proxy.announcedPath() == nil)
        #expect(try proxy.fetch("/page", "Sec-Fetch-Dest: document", host: "other.test")["Link"] != nil)
    }

    @Test func `no dictionary is made where none pays`() throws {
        let proxy = try TestProxy.learning()
        try proxy.visit()
        // Of two responses each, none pays for its download.
        for client in 1...5 as ClosedRange<UInt128> {
            for (bytes, time) in [(0, 0), (9_000, 60)] {
                proxy.server.context.learned.recordFirstVisit(
                    of: Items.builtChain(), sentBytes: bytes, client: client, now: time)
            }
        }
        try proxy.wait(for: .noGain)
        #expect(try proxy.announcedPath() == nil)
        #expect(proxy.learnedRow?.bytes == nil)
        #expect(proxy.learnedRow?.clients == 0, "other visits have to show that one would pay")
    }

    @Test func `one user's response is never a delta over it, since clients choose what it has`() throws {
        let proxy = try TestProxy.learning()
        let (_, dictionary) = try proxy.learnDictionary()
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "dcb")
        // Its match covers the paths of other routes, too.
        for path in ["/items/8?private", "/items/me", "/items/8/reviews"] {
            #expect(try proxy.fetch(path, over: dictionary).coding == "identity", "\(path)")
            #expect(try proxy.fetch(path, over: dictionary, "Cookie: a=b").coding == "identity", "\(path)")
        }
        let folder = try TemporaryFolder()
        try Data((1...3).flatMap(Items.body)).write(to: URL(filePath: folder.file("items.dict")))
        try proxy.reload(
            LearningOrigin.settings.replacing(
                "built: learned", with: "built: \"\(folder.file("items.dict"))\""))
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "dcb", "who has it still uses it")
        #expect(try proxy.fetch("/items/8?private", over: dictionary).coding == "identity")
    }

    @Test func `an upstream's dictionary for the same paths is not taken for one that was learned`() throws {
        let proxy = try TestProxy.learning()
        try proxy.prove("/items/*?learned")
        let chain = Items.builtChain()
        let reader = proxy.server.context.store.reader()
        let isThere = reader.newest(VersionKey(learnedFor: chain)) != nil
        #expect(isThere, "the key is the same")
        let isLearned = reader.learned(of: chain) != nil
        #expect(!isLearned)
        #expect(try proxy.announcedPath() == nil)
    }

    @Test func `what a purge has removed is proven no more`() throws {
        let proxy = try TestProxy.learning()
        try proxy.visit()
        #expect(proxy.learnedRow?.proven == 20)
        let answer = try proxy.admin(
            "POST /purge?route=/items/:id HTTP/1.1", "Host: localhost", "Content-Type: application/json")
        #expect(answer.status == 200)
        #expect(proxy.learnedRow?.proven == 0)
        proxy.comeBack()
        try proxy.wait(for: .fewProven)
    }

    @Test func `equal bodies count once`() throws {
        let proxy = try TestProxy.learning(
            LearningOrigin.settings.replacing("/items/me", with: "/none"))
        let chain = Items.builtChain()
        proxy.server.context.learned.recordFirstVisit(of: chain, sentBytes: 0, client: 1, now: 0)
        // Seven bodies, of which one is that of fourteen paths.
        for number in 20...26 { try proxy.prove("/items/\(number)") }
        for number in 0...12 {
            try proxy.prove("/items/020" + String(repeating: "0", count: number) + "?zero")
        }
        #expect(proxy.learnedRow?.proven == 20)
        proxy.comeBack()
        try proxy.wait(for: .fewProven)
    }
}
