internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 80)
private let second = Feed.bytes(version: 1, items: 80)

/// Tests the setting `authorities`, which keeps invented Host fields from making chains.
@Suite(.timeLimit(.minutes(40))) struct AuthoritySettingTests {
    @Test func `a host that is not listed gets bodies, and neither offers nor deltas nor chains`() throws {
        let proxy = try TestProxy(json(second), "authorities: [api.test]\nexplain: true")
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: second)["Use-As-Dictionary"] != nil)
        for host in ["other.test", "api.test.evil.test", "xapi.test", "api.tes", "[::1]:80", "127.0.0.1"] {
            let answer = try proxy.fetch("/feed", over: second, accept: "dcz, gzip", host: host)
            #expect(answer.coding == "gzip", "\(host)")
            #expect(answer["Use-As-Dictionary"] == nil)
            #expect(answer["Dictum-Explain"]?.contains("reason=authority-off") == true)
        }
        #expect(try proxy.metric("dictum_store_chains") == 1)
    }

    @Test func `a listed host may name any port, and any case`() throws {
        let proxy = try TestProxy(json(first), "authorities: [API.test, '*.example.test', 'local:8080']")
        for host in ["api.test", "Api.Test:8443", "a.example.test", "b.a.example.test:1", "local:8080"] {
            #expect(try proxy.fetch("/feed", host: host)["Use-As-Dictionary"] != nil, "\(host)")
        }
        for host in ["local", "local:8081", "example.test"] {
            #expect(try proxy.fetch("/feed", host: host)["Use-As-Dictionary"] == nil, "\(host)")
        }
    }

    @Test func `what was named before a reload leads nowhere under a host that is listed no longer`() throws {
        let open = html(first, "Cache-Control: public")
        let settings = #"routes: [{match: "/*", dictionary: {delivery: link}}]"#
        let proxy = try TestProxy(Origin([open, open, open]), settings)
        try proxy.prove("/feed")
        let path = DictionaryPath(
            chainName: ChainKey(authority: "api.test", match: "/feed").name, digest: Digest(of: first.span)
        ).text
        #expect(try proxy.fetch(path).status == 200)
        _ = try proxy.reload("authorities: [other.test]\n" + settings)
        #expect(try proxy.fetch(path).status != 200)
    }

    @Test(arguments: ["", "*", "**.test", "a b", "https://api.test", "api.test/x", "a*b"])
    func `what is no host is refused`(item: String) {
        #expect(!AuthorityNames.isItem(item))
    }

    @Test(arguments: [
        ("a.test:443", "a.test", true), ("a.test:80", "a.test", true), ("a.test:8080", "a.test", false),
        ("a.test:443", "a.test:80", false), ("*.test:443", "a.test", true), ("a.test", "a.test:8080", true),
    ])
    func `a default port is also no port`(item: String, authority: String, isIn: Bool) {
        #expect(AuthorityNames([item]).contains(authority) == isIn)
    }
}
