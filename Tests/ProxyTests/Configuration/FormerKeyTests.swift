import Testing

@testable import Proxy

/// The keys of configurations before 1.0.
@Suite struct FormerKeyTests {
    @Test(arguments: [
        ("upstreams: {shop: {urls: [\"http://a:1\"], keep_alive: 5}}", "its name is now \"keepalive\""),
        ("limits: {keep_alive_timeout: 5s}", "its name is now \"keepalive_timeout\""),
        ("store: {memory: 1GiB}", "memory.store is the share"),
        ("compression: {memory: 1GiB}", "memory.coding is the share"),
        ("compression: {prepared_memory: 0}", "memory.prepared is the share"),
        ("compression: {delta_memory: 0}", "memory.deltas is the share"),
        ("observe: {memory: 64MiB}", "memory.observe is the share"),
        (
            "routes: [{match: /a, dictionary: {versions: 4}}]",
            "\"routes[0].dictionary.versions\": it is not needed"
        ),
        ("listeners: [{address: \":1\", fast_open: 5}]", "TCP Fast Open is not supported"),
    ])
    func `a key that has gone is a mistake that names what stands in its place`(
        text: String, expected: String
    ) {
        #expect(mistakes(text).count == 1)
        #expect(mistakes(text).first?.contains(expected) == true, "\(mistakes(text))")
    }

    @Test(arguments: [
        "upstreams: {shop: {urls: [\"http://a:1\"], keepalive: 5}}",
        "limits: {keepalive_timeout: 5s, keepalive_requests: 5}",
        "listeners: [{address: \":1\", tcp_keepalive: 5s}]",
        "memory: {store: 1%, coding: 1%, prepared: 1%, deltas: 1%, observe: 1%}",
    ])
    func `what the messages name is accepted`(text: String) {
        #expect(mistakes(text) == [])
    }

    @Test func `a key elsewhere that only looks like one of them is not taken for it`() {
        #expect(
            mistakes("log: {memory: 1}") == [
                "f:2:7: unknown key \"log.memory\": expected one of level, format, access"
            ])
    }
}
