internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Proxy

/// The totals of observed responses by group of URLs.
@Suite(.timeLimit(.minutes(40))) struct ObservedRoutesTests {
    @Test func `paths that clients make up take a bounded number of groups`() throws {
        var routes = ObservedRoutes()
        for number in 0..<10_000 {
            routes.change(.init(route: "/*", authority: "a", match: "/\(number)"), isMeasured: true) {
                $0.totals.responses += 1
            }
        }
        #expect(routes.tallies.count == ObservedRoutes.countMax + 1)
        #expect(routes.tallies.values.reduce(0) { $0 + $1.totals.responses } == 10_000)
    }

    @Test func `URLs and paths that clients make up are counted up to 1,000`() {
        var tally = ObservedTally()
        for number in 0..<1_500 { tally.add(url: PathAndQuery("/\(number)?a=\(number)")) }
        let report = tally.report
        #expect(report.urls == 1_000 && report.paths == 1_000)
    }

    @Test func `paths and hosts of responses that are not measured take no group`() throws {
        let body = Feed.bytes(version: 0, items: 60)
        let origin = try Origin { request, connection in
            connection.send(
                request.target == "/feed"
                    ? json(body)
                    : wire("HTTP/1.1 404 Not Found", "Content-Type: application/json", body: body))
        }
        let proxy = try TestProxy(origin, "mode: observe")
        let count = ObservedRoutes.countMax
        for number in 0..<count { _ = try proxy.fetch("/missing", host: "h\(number).test") }
        try proxy.observe("/feed", number: count + 1)
        let route = try proxy.report().routes[0]
        #expect(route.groups.map(\.authority) == ["", "api.test"])
        #expect(route.groups.map(\.match) == ["", "/feed"])
        #expect(route.observed?.obstacles["ineligible-status"] == count)
    }

    @Test func `time in which a route is not observed does not count, and one that is again begins anew`()
        throws
    {
        let proxy = try TestProxy(json(Feed.bytes(version: 0, items: 60)), "mode: observe")
        for number in 1...2 { try proxy.observe("/feed", number: number) }
        try waitUntil("the work was charged") { proxy.server.context.observer.cost.cpuSeconds > 0 }
        try proxy.reload("mode: live")
        let ended = try [proxy.report(), proxy.report()]
        #expect(ended[0].routes[0].observed?.responses == 2)
        #expect(try #require(ended[0].routes[0].observed?.seconds) > 0)
        #expect(ended[0].routes[0].observed?.seconds == ended[1].routes[0].observed?.seconds)
        #expect(ended[0].observing?.cpuUsed == ended[1].observing?.cpuUsed)
        try proxy.reload("mode: observe")
        #expect(try proxy.report().routes[0].observed == nil)
        try proxy.observe("/feed", number: 1)
        try proxy.reload("mode: observe\nobserve: {cpu: 6%}")
        #expect(try proxy.report().routes[0].observed?.responses == 1)
    }
}
