internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let typed = "Content-Type: application/json"
private let token = "0123456789abcdef"

/// Each resource that reads, except the open ones.
private let reads = AdminResource.allCases.filter { !$0.isOpen && $0.isChange(.get) == false }

extension TestProxy {
    /// Returns the JSON of a resource of the admin listener.
    func read(_ path: String) throws -> [String: Any] {
        let answer = try admin("GET \(path) HTTP/1.1", "Host: localhost")
        try #require(answer.status == 200, "\(path): \(answer.text)")
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        return try #require(
            JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }
}

extension [String: Any] {
    /// Returns a number of a nested member.
    func number(_ keys: String...) -> Double? { (value(keys) as? NSNumber)?.doubleValue }
    func text(_ keys: String...) -> String? { value(keys) as? String }
    func list(_ key: String) -> [[String: Any]] { self[key] as? [[String: Any]] ?? [] }

    private func value(_ keys: [String]) -> Any? {
        keys.reduce(self as Any?) { ($0 as? [String: Any])?[$1] }
    }
}

@Suite(.timeLimit(.minutes(40))) struct AdminAPITests {
    // MARK: Who may ask

    @Test(arguments: reads)
    func `another name than this machine's needs the token, and a forwarded request does`(
        resource: AdminResource
    ) throws {
        let path = resource.rawValue
        let open = try TestProxy(json(first))
        #expect(try open.admin("GET \(path) HTTP/1.1", "Host: attacker.test").status == 403)
        #expect(try open.admin("HEAD \(path) HTTP/1.1", "Host: localhost").status == 200)
        for field in [
            "X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "Via: 1.1 front",
            "X-Real-IP: 192.0.2.1",
            "X-Forwarded-Proto: https", "X-Forwarded-Host: a.test", "X-Forwarded-Port: 443",
            "X-Forwarded-Prefix: /a",
        ] {
            #expect(try open.admin("GET \(path) HTTP/1.1", "Host: localhost", field).status == 403)
        }
        let guarded = try TestProxy(json(first), #"admin: {token: "\#(token)"}"#)
        let line = "GET \(path) HTTP/1.1"
        #expect(try guarded.admin(line, "Host: node7.test").status == 401)
        #expect(
            try guarded.admin(line, "Host: node7.test", "Authorization: Bearer \(token)x").status == 401)
        #expect(try guarded.admin(line, "Host: node7.test", "Authorization: Bearer \(token)").status == 200)
        #expect(try guarded.admin(line, "Host: localhost").status == 200)
    }

    @Test func `the token may come from a file, which a reload reads again`() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("token")
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }
        func status(_ token: String, _ proxy: TestProxy) throws -> Int {
            try proxy.admin("GET /status HTTP/1.1", "Host: a.test", "Authorization: Bearer \(token)").status
        }
        try write("\(token)\n")
        let settings = #"admin: {token_file: "\#(file)"}"#
        let proxy = try TestProxy(json(first), settings)
        #expect(try status(token, proxy) == 200)
        try write("another-\(token)\r\n")
        #expect(try status(token, proxy) == 200, "before the reload")
        try proxy.reload(settings)
        #expect(try status(token, proxy) == 401)
        #expect(try status("another-\(token)", proxy) == 200)
    }

    @Test(arguments: AdminResource.allCases, ["PUT", "POST", "DELETE", "PATCH"])
    func `other methods are 405 with Allow`(resource: AdminResource, method: String) throws {
        guard !resource.allow.contains(method) else { return }
        let proxy = try TestProxy(json(first))
        let answer = try proxy.admin("\(method) \(resource.rawValue) HTTP/1.1", "Host: localhost", typed)
        #expect(answer.status == 405)
        #expect(answer["Allow"] == resource.allow)
    }

    @Test func `an unknown path is a problem document that names the known ones`() throws {
        let proxy = try TestProxy(json(first))
        let answer = try proxy.admin("GET /statu HTTP/1.1", "Host: localhost", "Accept: application/json")
        #expect(answer.status == 404)
        #expect(answer["Content-Type"] == "application/problem+json")
        for resource in AdminResource.allCases { #expect(answer.text.contains(resource.rawValue)) }
    }

    // MARK: Reports

    @Test func `the history begins with the start, and has the totals of the past`() throws {
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        try waitUntil("the start is recorded") { try !proxy.read("/history").list("points").isEmpty }
        let history = AdminHistory()
        _ = try proxy.fetch("/feed")
        let delta = try proxy.fetch("/feed", over: first)
        let status = proxy.server.status
        try waitUntil("both are counted") { status.totals()?.requests == 2 }
        let begin = SystemClock.monotonicNanoseconds
        history.start { status.totals() }
        try waitUntil("the totals are recorded") { !history.points.isEmpty }
        history.stop()
        let point = try #require(history.points.first)
        #expect(point.requests == 2 && point.deltas == 1 && point.codingSeconds > 0)
        #expect(point.sentBytes == first.count + delta.body.count && point.plainBytes > point.sentBytes)
        let seconds = Double(SystemClock.monotonicNanoseconds - begin) / 1e9
        #expect(0...seconds ~= point.ageSeconds, "no point is older than its history")
    }

    @Test func `a client that has the response already lowers no hit rate`() throws {
        let tag = #"ETag: "v2""#
        let proxy = try TestProxy(
            Origin([json(first), json(second, tag), json(second, tag), wire("HTTP/1.1 404 No", body: [])]))
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: first).coding == "dcz")
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v2""#).status == 304)
        #expect(try proxy.fetch("/feed").status == 404)
        let route = try proxy.read("/routes").list("routes")[0]
        let reasons = route.list("reasons")
        func count(_ reason: String) -> Double? {
            reasons.first { $0.text("reason") == reason }?.number("requests")
        }
        #expect(count("not-modified") == 1 && count("ineligible-status") == 1)
        #expect(route.number("requests") == 4 && route.number("not_modified") == 1)
        let status = try proxy.read("/status")
        #expect(status.number("requests", "total") == 4 && status.number("requests", "not_modified") == 1)
        for rate in [route.number("hit_rate"), status.number("requests", "hit_rate")] {
            #expect(rate.map { abs($0 - 1 / 3) < 0.001 } == true)
        }
        let point = try #require(proxy.server.status.totals())
        #expect(point.requests == 4 && point.deltas == 1 && point.notModified == 1)
    }

    @Test func `status and routes have the numbers of the metrics`() throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second), json(second), json(second)]),
            "routes: [{match: /feed}, {match: /other, dictionary: off}]")
        _ = try proxy.fetch("/feed", "Accept-Encoding: gzip, dcz")
        let delta = try proxy.fetch("/feed", over: first, accept: "dcz, gzip")
        _ = try proxy.fetch("/other", "Accept-Encoding: gzip")
        _ = try proxy.fetch("/stray")
        try waitUntil("the delta was sampled") {
            try proxy.metric(#"dictum_gain_samples_total{route="/feed"}"#) == 1
        }
        let report = try proxy.read("/routes")
        let routes = report.list("routes")
        #expect(routes.map { $0.text("route") } == ["/feed", "/other", "none"])
        let feed = routes[0]
        #expect(feed.number("requests") == 2 && feed.number("deltas") == 1 && feed.number("hit_rate") == 0.5)
        #expect(feed.number("codings", "dcz") == 1 && feed.number("codings", "gzip") == 1)
        #expect(feed.list("reasons").first?.text("reason") == "client-new")
        #expect(feed.list("reasons").first?.number("requests") == 1)
        func metric(_ series: String) throws -> Double { Double(try proxy.metric(series)) }
        let before = try metric(#"dictum_body_bytes_total{route="/feed",stage="before"}"#)
        let sent = try metric(#"dictum_body_bytes_total{route="/feed",stage="after"}"#)
        #expect(feed.number("bytes", "body") == before && feed.number("bytes", "sent") == sent)
        #expect(
            try metric(#"dictum_delta_body_bytes_total{route="/feed",stage="after"}"#)
                == Double(delta.body.count))
        let plain = try metric(#"dictum_gain_bytes_total{route="/feed",stage="plain"}"#)
        #expect(feed.text("bytes", "plain_basis") == "sampled")
        #expect(feed.number("bytes", "plain") == sent - Double(delta.body.count) + plain)
        #expect(feed.number("bytes", "saved") == plain - Double(delta.body.count))
        let slowest = feed.list("slowest_codings")
        #expect(Set(slowest.map { $0.text("coding") }) == ["gzip", "dcz"])
        #expect(slowest.allSatisfy { ($0.number("seconds") ?? 0) > 0 })
        #expect(slowest.compactMap { $0.number("body_bytes") }.reduce(0, +) == before)
        #expect(slowest.compactMap { $0.number("sent_bytes") }.reduce(0, +) == sent)
        #expect(
            routes[1].text("dictionaries") == "off" && routes[1].text("bytes", "plain_basis") == "as-sent")
        #expect(routes[2].number("configured") == 0)

        // Other tests take contexts from the same pools.
        try waitUntil("a context waits for the next body") {
            try proxy.read("/status").number("memory", "budgets", "contexts", "used_bytes") ?? 0 > 0
        }
        let earliest = SystemClock.unixSeconds
        let status = try proxy.read("/status")
        let time = try Int(#require(status.number("time")))
        #expect(time >= earliest && time <= SystemClock.unixSeconds)
        #expect(status.text("version") == DictumVersion.text)
        #expect(status.number("requests", "total") == 4 && status.number("requests", "deltas") == 1)
        #expect(status.number("requests", "by_status", "2xx") == 4)
        #expect(status.number("bytes", "saved") == feed.number("bytes", "saved"))
        #expect(status.number("ready") == 1 && status.number("dictionaries", "on") == 1)
        #expect(status.number("store", "versions") == Double(try proxy.metric("dictum_store_versions")))
        #expect(status.list("upstreams").first?.number("healthy") == 1)
        #expect(status.text("log_level") == "info")

        let budgets = proxy.server.context.shared.budgets
        #expect(status.number("memory", "max_bytes") == Double(budgets.total))
        var used = 0.0
        for budget in Budget.allCases {
            func number(_ name: String) -> Double? {
                status.number("memory", "budgets", budget.rawValue, name)
            }
            #expect(number("max_bytes") == Double(budgets[budget]))
            used += try #require(number("used_bytes"))
            if [.store, .deltas].contains(budget) { #expect(number("used_bytes") != 0, "\(budget)") }
        }
        #expect(status.number("memory", "used_bytes") == used)
    }

    @Test func `the status tells the start, what was refused, and the parts of the store`() throws {
        let earliest = Double(SystemClock.unixSeconds)
        let proxy = try TestProxy(json(first))
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(wire("GET /feed HTTP/1.1"))
        #expect(try client.receive().status == 400, "there is no Host")
        let status = try proxy.read("/status")
        let start = try #require(status.number("start_time"))
        #expect(start >= earliest - 1 && start <= Double(SystemClock.unixSeconds) + 1)
        #expect(status.number("requests", "rejected", "malformed") == 1)
        let index = try proxy.metric(#"dictum_store_bytes{place="index"}"#)
        #expect(index > 0 && status.number("store", "index_bytes") == Double(index))
    }

    @Test func `chains are listed by pages, and a wrong page is refused`() throws {
        let proxy = try TestProxy(json(first))
        for path in ["/a", "/b", "/c"] { _ = try proxy.fetch(path) }
        let report = try proxy.read("/chains?order=bytes&offset=1&limit=1")
        #expect(report.number("total") == 3 && report.text("order") == "bytes")
        let chain = try #require(report.list("chains").first)
        #expect(report.list("chains").count == 1)
        #expect(chain.text("authority") == "api.test" && chain.text("match")?.hasPrefix("/") == true)
        #expect(chain.number("versions") == 1 && (chain.number("stored_bytes") ?? 0) > 0)
        #expect((chain.number("newest_age_seconds") ?? -1) >= 0)
        for query in ["order=size", "limit=0", "limit=201", "offset=-1", "offset=x", "page=1", "limit"] {
            let answer = try proxy.admin(
                "GET /chains?\(query) HTTP/1.1", "Host: localhost", "Accept: application/json")
            #expect(answer.status == 400, "\(query)")
            #expect(answer["Content-Type"] == "application/problem+json")
        }
        let standard = try proxy.read("/chains")
        #expect(standard.number("limit") == 50 && standard.number("offset") == 0)
        #expect(standard.text("order") == "wanted")
        for query in ["limit=200", "offset=100000000", "order=versions&limit=1", "order=wanted"] {
            #expect(
                try proxy.admin("GET /chains?\(query) HTTP/1.1", "Host: localhost").status == 200, "\(query)")
        }
    }

    @Test func `private and personal responses appear as counts, without a path or a user`() throws {
        let settings = """
            routes:
              - {match: /mine/*, dictionary: {scope: private, identity: authorization}}
              - {match: /*}
            """
        let proxy = try TestProxy(json(first, "Cache-Control: max-age=60"), settings)
        _ = try proxy.fetch("/mine/of-ann", "Authorization: Bearer ann-s3cret")
        _ = try proxy.fetch("/orders-of-bob", "Authorization: Bearer bob-s3cret")
        let chains = try proxy.read("/chains")
        #expect(chains.list("chains").isEmpty && chains.number("total") == 0)
        #expect(chains.number("private", "chains") == 2 && chains.number("private", "versions") == 2)
        for resource in reads where resource != .configuration {
            let text = try proxy.admin("GET \(resource.rawValue) HTTP/1.1", "Host: localhost").text
            for secret in ["of-ann", "of-bob", "s3cret", "Bearer"] {
                #expect(!text.contains(secret), "\(resource.rawValue): \(secret)")
            }
        }
    }

    @Test func `the configuration has every default, and none of its secrets`() throws {
        let proxy = try TestProxy(
            json(first),
            """
            admin: {token: "\(token)"}
            routes: [{match: /*, headers: {request: {set: {X-Key: s3cret, X-Other: s3cret}}, response: {set: {X-Frame-Options: DENY}}}}]
            """)
        let report = try proxy.read("/config")
        #expect(report["redacted"] as? [String] == ["routes[0].headers.request.set", "admin.token"])
        let routes = report["configuration"] as? [String: Any]
        #expect(routes?.list("routes").first?.text("headers", "request", "set", "X-Key") == "(redacted)")
        #expect(
            routes?.list("routes").first?.text("headers", "response", "set", "X-Frame-Options") == "DENY")
        #expect(routes?.text("store", "max_size") == "1GiB")
        let yaml = try proxy.admin("GET /config HTTP/1.1", "Host: localhost", "Accept: application/yaml")
        #expect(yaml["Content-Type"] == "application/yaml")
        #expect(yaml.text.contains("\n  max_size: 1GiB\n"))
        for accepted in ["application/json, application/yaml;q=0.5", "*/*"] {
            let other = try proxy.admin("GET /config HTTP/1.1", "Host: localhost", "Accept: \(accepted)")
            #expect(other["Content-Type"] == "application/json")
        }
        for text in [yaml.text, "\(report)"] { #expect(!text.contains("s3cret") && !text.contains(token)) }
    }

    // MARK: Connections

    @Test func `the status tells connections in use from those that are kept`() throws {
        let gate = Gate()
        let proxy = try TestProxy(
            Origin { _, connection in
                gate.wait()
                connection.send(json(first))
            })
        let client = try proxy.connect()
        /// The connections in use, and those that are kept.
        func counts(_ side: String) throws -> [Double?] {
            let status = try proxy.read("/status")
            return ["active", "idle"].map { status.number("connections", side, $0) }
        }
        client.send(request("/feed", []))
        try waitUntil("both are in use") {
            try counts("client") == [1, 0] && counts("upstream") == [1, 0]
        }
        gate.open()
        _ = try client.receive()
        try waitUntil("both are kept") { try counts("client") == [0, 1] && counts("upstream") == [0, 1] }
    }
}
