internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)

/// Answers that offer themselves and that no browser keeps: the log and a metric say so.
@Suite(.timeLimit(.minutes(40))) struct UnkeptOfferTests {
    private func warnings(_ proxy: TestProxy) -> [String] {
        proxy.events.withLock { $0 }.filter { $0.level == .warning }.map(\.text)
    }

    @Test(arguments: [
        ("Cache-Control: no-cache", "no-cache"), ("Cache-Control: s-maxage=600", "s-maxage-only"),
        ("Cache-Control: max-age=0", "expired"), ("Cache-Control: max-age=5\r\nAge: 5", "expired"),
        ("ETag: \"v1\"", "etag-only"), ("X-Nothing: 1", "etag-only"),
        ("Expires: Fri, 01 Jan 2021 00:00:00 GMT", "expired"), ("Expires: 0", "expired"),
        ("Cache-Control: max-age=60\r\nDate: Fri, 01 Jan 2021 00:00:00 GMT", "expired"),
    ])
    func `every such answer is counted with its reason, and one warning an hour names the route`(
        field: String, reason: String
    ) throws {
        let proxy = try TestProxy(
            json(body, field), #"routes: [{match: /feed, dictionary: {delivery: in_band}}, {match: "/*"}]"#)
        for _ in 1...3 { _ = try proxy.fetch("/feed") }
        let metrics = try proxy.metrics()
        #expect(
            metrics.contains(#"dictum_unkept_offers_total{route="/feed",reason="\#(reason)"} 3"# + "\n"))
        let said = warnings(proxy)
        #expect(said.count == 1)
        #expect(
            said.first?.hasPrefix(
                "route /feed offers dictionaries on responses that no browser keeps (\(reason))") == true)
        #expect(
            said.first?.contains(
                "set cache_control on the route (for apps its ttl is enough), or announce its paths") == true)
    }

    @Test(arguments: [("no-cache", "no-cache"), ("max-age=0", "expired"), ("public", "etag-only")])
    func `where the route's own cache_control is at fault, the warning says so`(
        value: String, reason: String
    ) throws {
        let proxy = try TestProxy(
            json(body, "Cache-Control: max-age=60"),
            #"routes: [{match: "/*", dictionary: {delivery: in_band, cache_control: \#(value)}}]"#)
        _ = try proxy.fetch("/feed")
        let text = "no browser keeps (\(reason)): give max-age to the route's own cache_control, or announce"
        #expect(warnings(proxy).count == 1 && warnings(proxy).first?.contains(text) == true)
    }

    @Test(arguments: [
        "Cache-Control: max-age=1", "Cache-Control: max-age=0, stale-while-revalidate=60",
        "Expires: Fri, 01 Jan 2100 00:00:00 GMT", "Last-Modified: Fri, 01 Jan 2021 00:00:00 GMT",
        "Cache-Control: max-age=9, public\r\nAge: 8",
    ])
    func `an answer that is kept is no reason to say anything`(field: String) throws {
        let proxy = try TestProxy(json(body, field))
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] != nil)
        #expect(warnings(proxy).isEmpty)
        #expect(try !proxy.metrics().contains("dictum_unkept_offers_total{"))
    }

    @Test(arguments: [("ttl: 60s", false), ("cache_control: max-age=60", true)])
    func `a Cache-Control of the route helps, and a ttl does not`(setting: String, isKept: Bool) throws {
        let proxy = try TestProxy(
            json(body, "Cache-Control: public, no-cache"),
            #"routes: [{match: "/*", dictionary: {\#(setting)}}]"#)
        _ = try proxy.fetch("/feed")
        #expect(warnings(proxy).isEmpty == isKept)
        #expect(try proxy.metrics().contains("dictum_offers_total 1\n"))
    }

    @Test func `an answer that offers nothing is not counted`() throws {
        let proxy = try TestProxy(json(body, "Cache-Control: no-cache, private"), "personal: off")
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == nil)
        #expect(warnings(proxy).isEmpty)
    }

    @Test func `each route warns for itself`() throws {
        let proxy = try TestProxy(
            json(body),
            """
            routes:
              - {match: /a, dictionary: {delivery: in_band}}
              - {match: /b, dictionary: {delivery: in_band}}
            """)
        for target in ["/a", "/b", "/a"] { _ = try proxy.fetch(target) }
        #expect(warnings(proxy).map { $0.prefix(8) } == ["route /a", "route /b"])
    }

    @Test func `a reload is no reason to say it again, and a route that it brings is`() throws {
        let route = { (match: String) in "routes: [{match: \(match), dictionary: {delivery: in_band}}]" }
        let proxy = try TestProxy(json(body), route("/a"))
        _ = try proxy.fetch("/a")
        for match in ["/a", "/b", "/a"] {
            try proxy.reload(route(match))
            _ = try proxy.fetch(match)
        }
        #expect(warnings(proxy).map { $0.prefix(8) } == ["route /a", "route /b"])
    }

    @Test func `an hour later it is said again`() {
        let reminders = RouteReminders()
        #expect(reminders.unkept.take(now: 10_000_000))
        #expect(!reminders.unkept.take(now: 13_599_999))
        #expect(reminders.unkept.take(now: 13_600_000))
    }

    @Test func `a route that comes back is remembered, and one of too many is rather named twice`() throws {
        var configuration = Configuration()
        configuration.routes = try (0...4_000).map { number in
            var route = RouteConfiguration.implied
            route.match = try RouteMatch([URLPattern("/\(number)")])
            return route
        }
        func takes(_ number: Int, _ names: RouteNames) -> Bool {
            Route.make(configuration.routes[number], names, in: configuration, upstream: nil)
                .reminders.unkept.take(now: 0)
        }
        let names = RouteNames(configuration)
        #expect(takes(7, names) && takes(3_999, names) && takes(4_000, names))
        let later = RouteNames(configuration, after: RouteNames(Configuration(), after: names))
        #expect(!takes(7, later) && !takes(3_999, later))
        #expect(takes(4_000, later))
    }
}
