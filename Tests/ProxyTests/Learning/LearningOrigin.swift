internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// An origin whose items a proxy learns a dictionary of.
enum LearningOrigin {
    static let settings = """
        routes:
          - {match: "/items/me", dictionary: {max_age: 60s}}
          - {match: "/items/:id", dictionary: {built: learned}}
          - {match: /page, announce: [/items/8], dictionary: off}
          - {match: "/*"}
        """
    static let secret = "secret-of-one-user-0123456789"

    /// An origin with items, whose query tells their form and what makes them one user's.
    static func make() throws -> Origin {
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
}

extension Items {
    /// The chain of the dictionary that a host learns.
    static func builtChain(_ host: String = "api.test") -> ChainKey {
        ChainKey(authority: host, match: "/items/*")
    }
}

extension TestProxy {
    /// Starts a proxy whose trainings may take all of the processor.
    static func learning(
        store: String = ":memory:", _ settings: String = LearningOrigin.settings
    ) throws -> TestProxy {
        let proxy = try TestProxy(LearningOrigin.make(), settings, store: store)
        proxy.server.context.learned.changeShare(to: 1_000)
        return proxy
    }

    /// Has five clients fetch items, after the proxy has seen a first response of somebody.
    func visit(
        items: ClosedRange<Int> = 20...39, query: String = "", _ field: String = "",
        host: String = "api.test"
    ) throws {
        server.context.learned.recordFirstVisit(of: Items.builtChain(host), sentBytes: 0, client: 1, now: 0)
        for client in 1...5 {
            let connection = try connect()
            for number in items {
                let target = "/items/\(number)" + (query.isEmpty ? "" : "?\(query)")
                let fields = [forwarded(for: client)] + (field.isEmpty ? [] : [field])
                connection.send(request(target, fields, host: host))
                #expect(try connection.receive().status == 200)
            }
        }
    }

    /// Has five clients come back a minute later for many items, as far as the proxy counts them.
    func comeBack(_ count: Int = 60, host: String = "api.test") {
        for client in 1...5 as ClosedRange<UInt128> {
            for item in 0...count {
                server.context.learned.recordFirstVisit(
                    of: Items.builtChain(host), sentBytes: 300, client: client, now: item == 0 ? 0 : 60)
            }
        }
    }

    var learnedRow: SavingsReport.Learned? {
        let context = server.context
        return context.routes.learners.first.map(context.learned.rows)?.first
    }

    func wait(for reason: LearningReason) throws {
        try waitUntil("a step is \(reason), not \(learnedRow?.reason ?? "none")") {
            server.context.learned.state.withLock { $0.counts.keys.contains { $0.last == reason.rawValue } }
        }
    }

    /// Has a proxy learn a dictionary, and returns it as the page announces it.
    func learnDictionary() throws -> (path: String, body: [UInt8]) {
        try visit()
        comeBack()
        try wait(for: .trained)
        return try learnedDictionary()
    }

    func learnedDictionary() throws -> (path: String, body: [UInt8]) {
        let path = try #require(try announcedPath())
        let response = try fetch(path)
        #expect(response["Use-As-Dictionary"] == #"match="/items/*""#)
        return (path, response.body)
    }
}

extension LearnedDictionaries {
    /// Changes the share of the processor.
    func changeShare(to share: Double) { state.withLock { $0.allowance.cpuShare = share } }

    /// Lets the next attempts begin at once.
    func forgetFailures() {
        state.withLock { state in
            for chain in state.records.all.keys {
                _ = state.records.changeIfPresent(chain) { ($0.failures, $0.retryAt) = (0, 0) }
            }
        }
    }
}
