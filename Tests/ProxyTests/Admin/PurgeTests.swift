internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let ann = "Cookie: session=ann"
private let bob = "Cookie: session=bob"

extension TestProxy {
    fileprivate func purge(_ query: String) throws -> WireMessage {
        try admin("POST /purge?\(query) HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    }

    fileprivate func purged(_ query: String) throws -> PurgeReport {
        let answer = try purge(query)
        try #require(answer.status == 200, "\(answer.text)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(PurgeReport.self, from: Data(answer.body))
    }

    /// Returns true if a client that holds the first body gets a delta over it.
    fileprivate func usesFirst(_ target: String, _ login: String = "X-A: 1", host: String = "api.test") throws
        -> Bool
    {
        let answer = try fetch(target, over: first, login, "X-Version: 1", host: host)
        #expect(try answer.carriesDecoded(second, over: first))
        return answer.coding.hasPrefix("dc")
    }
}

/// Versions that are forgotten on request are never used or offered again, and all others stay.
@Suite(.timeLimit(.minutes(40))) struct PurgeTests {
    private static let routes = """
        routes:
        - {match: /account/*, dictionary: {scope: private, identity: "cookie:session"}}
        - {match: /app/:name.:hash, dictionary: {covers: "/app/<name>.*"}}
        - {match: /*}
        """

    private func proxy(store: String = ":memory:", _ fields: String = "Cache-Control: public") throws
        -> TestProxy
    {
        let origin = try Origin { request, connection in
            let body = request["X-Version"] == nil ? first : second
            let isPrivate = request.target.hasPrefix("/account")
            let more = request.target == "/logout" ? "Clear-Site-Data: \"cache\", \"storage\"" : "X-B: 1"
            connection.send(json(body, isPrivate ? "Cache-Control: private" : fields, more))
        }
        return try TestProxy(origin, Self.routes, store: store)
    }

    @Test(arguments: [
        ("path=/feed", ["/feed"]), ("path=%2Ffeed&host=API.test", ["/feed"]), ("host=other.test", []),
        ("path=/fee", []), ("path=/app/main.1", ["/app/main.1"]), ("path=/app/main.2", ["/app/main.1"]),
        ("route=/*", ["/feed", "/other"]), ("host=api.test&route=/app/:name.:hash", ["/app/main.1"]),
        ("host=api.test", ["/feed", "/other", "/app/main.1", "/account/inbox"]),
        ("route=/account/*", ["/account/inbox"]), ("path=/account/inbox", ["/account/inbox"]),
        ("host=api.test&user=cookie:session%3Dann", ["/account/inbox"]),
    ])
    func `what meets every condition is forgotten, and nothing else`(query: String, gone: [String]) throws {
        let proxy = try proxy()
        let all = ["/feed", "/other", "/app/main.1", "/account/inbox"]
        for target in all { _ = try proxy.fetch(target, ann) }
        let dry = try proxy.purged(query + "&dry_run=true")
        #expect(dry.dryRun && dry.removedVersions == gone.count)
        let report = try proxy.purged(query)
        #expect(report.removedVersions == gone.count && report.removedBytes == gone.count * first.count)
        #expect(report.removedPersonalVersions == (gone.contains("/account/inbox") ? 1 : 0))
        #expect(report.otherNodesTold == nil)
        for target in all { #expect(try proxy.usesFirst(target, ann) == !gone.contains(target), "\(target)") }
    }

    @Test(arguments: ["/caf%C3%A9", "/caf%25C3%25A9", "/caf%25c3%25a9"])
    func `a path is found as people write it, and as clients send it`(path: String) throws {
        let proxy = try proxy()
        let spellings = ["/caf%C3%A9", "/caf%c3%a9"]
        for target in spellings { _ = try proxy.fetch(target) }
        #expect(try proxy.purged("path=\(path)").removedVersions == 2)
        for target in spellings { #expect(try !proxy.usesFirst(target)) }
    }

    @Test func `one user's versions go, and another's stay`() throws {
        let proxy = try proxy()
        for user in [ann, bob] { _ = try proxy.fetch("/account/inbox", user) }
        #expect(try proxy.purged("host=api.test&user=cookie:session%3Dann").removedVersions == 1)
        #expect(try !proxy.usesFirst("/account/inbox", ann))
        #expect(try proxy.usesFirst("/account/inbox", bob))
    }

    @Test func `a response that has its client forget ends the user's versions of that host`() throws {
        let proxy = try proxy()
        for user in [ann, bob] { _ = try proxy.fetch("/account/inbox", user) }
        _ = try proxy.fetch("/account/inbox", ann, host: "other.test")
        #expect(try proxy.fetch("/logout", ann)["Clear-Site-Data"] != nil)
        try waitUntil("the store has forgotten ann") {
            proxy.server.context.store.statistics.evictions[.removed] == 1
        }
        #expect(try !proxy.usesFirst("/account/inbox", ann))
        #expect(try proxy.usesFirst("/account/inbox", bob))
        #expect(try proxy.usesFirst("/account/inbox", ann, host: "other.test"))
    }

    @Test func `a log-out ends the user's versions on every private route of the host`() throws {
        let origin = try Origin { request, connection in
            let more = request.target == "/logout" ? "Clear-Site-Data: \"cache\"" : "X-B: 1"
            connection.send(json(first, "Cache-Control: private", more))
        }
        let proxy = try TestProxy(
            origin,
            """
            routes:
            - {match: /account/*, dictionary: {scope: private, identity: "cookie:session", cookies: ignore}}
            - {match: /mail/*, dictionary: {scope: private, identity: "cookie:tenant", cookies: ignore}}
            - {match: /*}
            """)
        _ = try proxy.fetch("/account/inbox", ann)
        _ = try proxy.fetch("/mail/inbox", "Cookie: tenant=t")
        _ = try proxy.fetch("/logout", "\(ann); tenant=t")
        try waitUntil("the store has forgotten ann on both") {
            proxy.server.context.store.statistics.evictions[.removed] == 2
        }
    }

    @Test func `a log-out in the last response before the end is on disk`() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("store.sqlite")
        let proxy = try proxy(store: file)
        for user in [ann, bob] { _ = try proxy.fetch("/account/inbox", user) }
        #expect(proxy.server.context.store.upkeep.flush())
        _ = try proxy.fetch("/logout", ann)
        #expect(proxy.server.stop())
        let catalogue = try StoreCatalogue(path: file)
        defer { catalogue.close() }
        #expect(try catalogue.hidden().versions == 1)
    }

    @Test(arguments: ["", "revalidate: true"])
    func `a response to a request from before an order does not become a version after it`(setting: String)
        throws
    {
        let order = Guarded<@Sendable () -> Void>({})
        let origin = try Origin { request, connection in
            order.withLock { $0 }()
            let isKnown = request["If-None-Match"] != nil
            connection.send(
                isKnown
                    ? wire("HTTP/1.1 304 Not Modified", #"ETag: "1""#)
                    : json(first, "Cache-Control: public, max-age=60", #"ETag: "1""#))
        }
        let proxy = try TestProxy(origin, "routes: [{match: /*, dictionary: {\(setting)}}]")
        _ = try proxy.fetch("/feed")
        let store = proxy.server.context.store
        #expect(store.statistics.versions == 1)
        order.withLock { order in
            order = { _ = store.upkeep.purge([Purge(PurgeOrder(path: "/feed")) { _, _, _ in false }]) }
        }
        #expect(try proxy.fetch("/feed").carries(first))
        #expect(store.statistics.versions == 0 && store.statistics.refusals == [AdmissionRefusal.purged: 1])
        order.withLock { $0 = {} }
        _ = try proxy.fetch("/feed")
        #expect(store.statistics.versions == 1)
    }

    @Test func `personal responses of a path are forgotten with it`() throws {
        let proxy = try proxy("Cache-Control: private")
        _ = try proxy.fetch("/feed", ann)
        #expect(try proxy.purged("path=/feed").removedPersonalVersions == 1)
        #expect(try !proxy.usesFirst("/feed", ann))
    }

    @Test func `a body that was forgotten is not in the file of the store any more`() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("store.sqlite")
        let proxy = try proxy(store: file)
        _ = try proxy.fetch("/feed")
        _ = try proxy.fetch("/other")
        #expect(proxy.server.context.store.upkeep.flush())
        #expect(try proxy.purged("path=/feed").removedVersions == 1)
        let catalogue = try StoreCatalogue(path: file)
        defer { catalogue.close() }
        #expect(try catalogue.versions().map(\.url) == ["/other"])
    }

    @Test(arguments: [
        "", "dry_run=true", "path=feed", "path=/a?b", "path=", "host=a&colour=red",
        "user=cookie:session%3Dann",
        "host=a&user=session", "host=a&user=cookie:session%3Dann&user=cookie:other%3D1", "route=/nothing",
        "dry_run=yes&host=a", "path=/feed&path=/other", "dry_run=true&dry_run=false&path=/feed",
        "host=api.test&user=cookie:session%3Dann&user=cookie:session%3Dbob", "route=a%22b%0D%0A%C3%A9",
    ])
    func `an order without a condition, or with one that means nothing or is there twice, removes nothing`(
        query: String
    ) throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/feed")
        let answer = try proxy.admin(
            "POST /purge?\(query) HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            "Accept: application/json")
        #expect(answer.status == 400 && answer["X-Content-Type-Options"] == "nosniff")
        let problem = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let detail = try #require(problem?["detail"] as? String)
        #expect(!query.hasPrefix("route=a") || detail.contains("a\"b\r\né"))
        #expect(try proxy.usesFirst("/feed"))
    }

    @Test func `pages of other origins and strangers purge nothing`() throws {
        let proxy = try proxy()
        let line = "POST /purge?host=api.test HTTP/1.1"
        #expect(try proxy.admin(line, "Host: localhost").status == 415)
        #expect(
            try proxy.admin(
                line, "Host: localhost", "Content-Type: application/json", "Origin: https://a.test"
            ).status
                == 403)
        #expect(try proxy.admin(line, "Host: a.test", "Content-Type: application/json").status == 403)
        #expect(try proxy.admin("GET /purge?host=api.test HTTP/1.1", "Host: localhost").status == 405)
    }

    @Test func `a value has at most 1,024 bytes`() throws {
        let proxy = try proxy()
        #expect(try proxy.purge("path=/" + String(repeating: "a", count: 1_023)).status == 200)
        #expect(try proxy.purge("path=/" + String(repeating: "a", count: 1_024)).status == 400)
        #expect(try proxy.purge("path=/" + String(repeating: "%61", count: 1_023)).status == 200)
    }
}
