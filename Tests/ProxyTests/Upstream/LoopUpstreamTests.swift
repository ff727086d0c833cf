internal import TestSupport
internal import Testing

@testable import Proxy

/// The upstreams as a loop of the proxy has them.
@Suite(.timeLimit(.minutes(40))) struct LoopUpstreamTests {
    @Test func `the connections of an upstream that a reload removes are closed, and stay counted`() throws {
        let (api, shop) = (try MoodyOrigin(), try MoodyOrigin())
        let settings = """
            upstreams: {shop: {urls: ["\(shop.url)"]}}
            routes: [{match: /*, host: shop.test, upstream: shop}, {match: /*}]
            """
        let proxy = try TestProxy(api.origin, settings, loops: 1)
        let idle = #"dictum_connections{side="upstream",state="idle"}"#
        let opened = #"dictum_connections_total{side="upstream"}"#
        for host in ["shop.test", "api.test"] { #expect(try proxy.fetch("/", host: host).text == "well") }
        #expect(shop.count == 1 && api.count == 1)
        #expect(try proxy.metric(idle) == 2)
        // The loop forgets the removed upstream at this reload, or at a later one.
        for _ in 0..<3 {
            try proxy.reload("")
            #expect(try proxy.fetch("/").text == "well")
            #expect(try proxy.metric(idle) == 1)
            #expect(try proxy.metric(opened) >= 2)
        }
        #expect(shop.count == 1)
    }
}
