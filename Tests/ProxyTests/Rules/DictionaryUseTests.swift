internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

/// Returns a proxy whose upstream has sent `first` and now sends `second`.
private func changed(_ settings: String = "", fields: String = "X-Origin: 1") throws -> TestProxy {
    let proxy = try TestProxy(Origin([json(first, fields), json(second, fields)]), settings)
    _ = try proxy.fetch("/feed")
    return proxy
}

@Suite(.timeLimit(.minutes(40))) struct DictionaryUseTests {
    @Test(arguments: [
        "*", "gzip, *", "identity", "", "dczz", "x-dcz", "dcz;q=0, *", "dcb;q=0, dcz;q=0.000",
        "\"dcz\"",
    ])
    func `only an explicit token with a weight above zero gets a dictionary coding`(accept: String) throws {
        let proxy = try changed()
        let answer = try proxy.fetch("/feed", over: first, accept: accept)
        #expect(!answer.coding.hasPrefix("dc"))
        #expect(try answer.carriesDecoded(second))
    }

    @Test(arguments: [
        ("dcz", "dcz"), ("dcb", "dcb"), ("dcb, dcz", "dcz"), ("dcz;q=0.1, dcb;q=0.2", "dcb"),
        ("gzip, br, zstd, dcb", "dcb"), ("gzip;q=1, dcz;q=0.5", "gzip"), ("dcz;q=0.001", "dcz"),
        ("identity, dcz;q=0.5", "identity"), ("*;q=0, dcb", "dcb"),
        ("gzip, deflate, br, zstd, dcb, dcz", "dcz"), ("DCZ", "dcz"), ("Dcb, GZIP", "dcb"),
    ])
    func `weights rule, and among equals the server's order`(accept: String, coding: String) throws {
        let proxy = try changed()
        let answer = try proxy.fetch("/feed", over: first, accept: accept)
        #expect(answer.coding == coding)
        #expect(try answer.carriesDecoded(second, over: first))
    }

    @Test func `the server's order is a setting`() throws {
        let proxy = try changed("compression: {codings: [dcb, gzip, dcz]}")
        #expect(try proxy.fetch("/feed", over: first).coding == "dcb")
        #expect(try proxy.fetch("/feed", "Accept-Encoding: br, gzip, zstd").coding == "gzip")
    }

    @Test(arguments: [
        "Available-Dictionary: :AAAA:", "Available-Dictionary: nonsense",
        "Available-Dictionary: :\(Digest(of: second.span).base64):, :\(Digest(of: first.span).base64):",
        "Available-Dictionary: \"\(Digest(of: first.span).base64)\"",
        "\(available(second))\r\n\(available(first))", available(Noise.bytes(100, seed: 1)),
    ])
    func `a digest that is malformed, or of no version, is as if absent`(field: String) throws {
        let proxy = try changed()
        let answer = try proxy.fetch("/feed", "Accept-Encoding: dcz, dcb, br", field)
        #expect(answer.coding == "br")
        #expect(try answer.carriesDecoded(second))
    }

    @Test(arguments: ["/a/x/../feed", "/a//feed", "/a/%66eed", "/a/./feed"])
    func `a dictionary is never used for a path outside the normal form`(path: String) throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second)]), #"routes: [{match: "/a/*"}]"#)
        _ = try proxy.fetch("/a/feed")
        #expect(try proxy.fetch("/a/feed", over: first).coding == "dcz", "the pattern's dictionary is usable")
        let response = try proxy.fetch(path, over: first)
        #expect(!response.coding.hasPrefix("dc"))
        #expect(response["Use-As-Dictionary"] == nil)
        #expect(try response.carriesDecoded(second))
    }

    @Test func `Dictionary-ID is a hint that changes nothing`() throws {
        let proxy = try changed()
        #expect(try proxy.fetch("/feed", over: first, #"Dictionary-ID: "wrong""#).coding == "dcz")
        #expect(try proxy.fetch("/feed", over: first, "Dictionary-ID: not a string").coding == "dcz")
    }

    @Test func `a dictionary is never used for another host or another path`() throws {
        let proxy = try changed()
        #expect(try proxy.fetch("/feed", over: first, host: "other.test").coding == "identity")
        #expect(try proxy.fetch("/feed", over: first, host: "api.test:81").coding == "identity")
        #expect(try proxy.fetch("/feed2", over: first).coding == "identity")
        #expect(try proxy.fetch("/feed/", over: first).coding == "identity")
        #expect(try proxy.fetch("/feed?any=query", over: first).coding == "dcz")
    }

    @Test func `every version of the chain is a dictionary`() throws {
        let bodies = (0..<6).map { Feed.bytes(version: $0, items: 40) }
        let proxy = try TestProxy(
            Origin(bodies.map { json($0) }),
            #"routes: [{match: "/*", dictionary: {delivery: in_band}}]"#)
        for _ in bodies { _ = try proxy.fetch("/feed") }
        let codings = try bodies.dropLast().map { try proxy.fetch("/feed", over: $0).coding }
        #expect(codings == Array(repeating: "dcz", count: 5))
    }

    @Test(
        arguments: [
            (["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], nil, false),
            (["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", "Origin: https://a.test"], nil, false),
            (
                ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Origin: https://a.test"],
                "https://b.test", false
            ),
            (["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"], "*", false),
            (["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Origin: https://a.test"], "*", true),
            (
                ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Origin: https://a.test"],
                "https://a.test", true
            ),
            (["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors"], nil, true),
            (
                ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], nil,
                false
            ),
            (["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], nil, true),
            (["Sec-Fetch-Site: cross-site"], nil, true), (["Sec-Fetch-Mode: no-cors"], nil, true),
        ] as [([String], String?, Bool)])
    func `the cross-origin rule decides about use and offer alike`(
        fields: [String], allowed: String?, isAllowed: Bool
    ) throws {
        let proxy = try changed(fields: allowed.map { "Access-Control-Allow-Origin: \($0)" } ?? "X-Origin: 1")
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first, fields.joined(separator: "\r\n"))
        #expect((answer.coding == "dcz") == isAllowed)
        #expect((answer["Use-As-Dictionary"] != nil) == isAllowed)
    }

    @Test(arguments: [
        ("X-Forwarded-Proto: https", true), ("X-Forwarded-Proto: http", false),
        ("X-Forwarded-Proto: https, http", true), ("X-Forwarded-For: 192.0.2.1", false),
        ("Forwarded: for=192.0.2.1;proto=https", true), ("Forwarded: proto=http", false),
        ("Via: 1.1 a", false),
    ])
    func `a trusted peer says whether the client's transport is secure`(field: String, isSecure: Bool) throws
    {
        let proxy = try changed()
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first, field)
        #expect((answer.coding == "dcz") == isSecure)
        #expect((answer["Use-As-Dictionary"] != nil) == isSecure)
    }

    @Test func `a peer that is not trusted says nothing of the transport`() throws {
        let proxy = try changed("trusted_proxies: [192.0.2.0/24]")
        #expect(try proxy.fetch("/feed", over: first, "X-Forwarded-Proto: https").coding == "identity")
    }

    @Test(arguments: [
        ("assume", "X-Forwarded-Proto: http", true), ("never", "X-Forwarded-Proto: https", false),
    ])
    func `secure_transport can be set by hand`(setting: String, field: String, isSecure: Bool) throws {
        let proxy = try changed("secure_transport: \(setting)")
        #expect(try (proxy.fetch("/feed", over: first, field).coding == "dcz") == isSecure)
    }

    @Test(arguments: ["Cookie: a=b", "Authorization: Basic eA==", "X-Api-Key: k"])
    func `with personal off a personal answer is not coded over a dictionary`(field: String) throws {
        let proxy = try changed("personal: off", fields: "Cache-Control: max-age=60")
        let answer = try proxy.fetch("/feed", over: first, field, accept: "dcz, gzip")
        #expect(answer.coding == "gzip")
        #expect(try answer.carriesDecoded(second))
    }

    @Test func `the answer to a POST is coded over a dictionary`() throws {
        let proxy = try changed()
        let answer = try proxy.fetch("/feed", over: first, method: "POST", body: Array("{}".utf8))
        #expect(answer.coding == "dcz")
        #expect(try answer.carriesDecoded(second, over: first))
        #expect(answer["Use-As-Dictionary"] == nil)
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `a large answer is coded over any version`(coding: ContentCoding) throws {
        let versions = (0..<4).map { Feed.bytes(version: $0, items: 850) }
        let proxy = try TestProxy(Origin(versions.map { json($0) }))
        for _ in versions { _ = try proxy.fetch("/feed") }
        for version in versions {
            let answer = try proxy.fetch("/feed", over: version, accept: coding.token)
            #expect(answer.coding == coding.token)
            #expect(answer.body.count < versions[3].count / 20)
            #expect(try answer.carriesDecoded(versions[3], over: version))
        }
    }

    @Test func `a delta that would be no shorter is not sent, and not called one`() throws {
        let noise = Noise.bytes(4_000, seed: 7)
        let proxy = try TestProxy(Origin([json(first), json(noise)]), "explain: true")
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first)
        #expect(answer.coding == "identity")
        #expect(answer.carries(noise))
        #expect(answer["CDN-Cache-Control"] == nil)
        #expect(answer["Dictum-Explain"]?.contains("reason=not-shorter") == true)
    }

    @Test func `a dictionary admitted by one connection serves all others at once`() throws {
        let proxy = try changed()
        for _ in 0..<16 { #expect(try proxy.fetch("/feed", over: first).coding == "dcz") }
    }
}
