internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let both = ["accept-encoding", "available-dictionary"]

@Suite(.timeLimit(.minutes(40))) struct CacheTests {
    @Test(arguments: ["identity", "gzip", "br", "zstd", "dcz", "dcb"])
    func `every variant varies, merged with what the upstream says`(coding: String) throws {
        let proxy = try TestProxy(
            Origin([json(first, "Vary: Accept-Language"), json(second, "Vary: Accept-Language")]))
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first, accept: coding)
        #expect(answer.coding == coding)
        #expect(answer.members("Vary") == ["accept-encoding", "accept-language", "available-dictionary"])
        #expect(answer.values("Vary").count == 1)
    }

    @Test func `HEAD and 304 vary like GET`() throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", #"ETag: "v1""#, "Cache-Control: public",
                "Content-Length: \(first.count)")
            let isHeld = request["If-None-Match"] != nil
            connection.send(
                isHeld
                    ? wire(
                        "HTTP/1.1 304 Not Modified", #"ETag: "v1""#, "Vary: Origin", "Cache-Control: public")
                    : request.method == "HEAD" ? head : head + first)
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/feed", "Accept-Encoding: gzip", method: "HEAD").members("Vary") == both)
        #expect(try proxy.fetch("/feed", method: "HEAD").members("Vary") == both)
        let answer = try proxy.fetch("/feed", #"If-None-Match: W/"v1""#)
        #expect(answer.status == 304)
        #expect(answer.members("Vary") == both + ["origin"])
    }

    @Test func `Vary star stays alone, and keeps the answer from becoming a dictionary`() throws {
        let proxy = try TestProxy(json(first, "Vary: *"))
        #expect(try proxy.fetch("/feed")["Vary"] == "*")
    }

    @Test(arguments: [
        ("POST", json(first)), ("GET", json(Array(first.prefix(20)))),
    ])
    func `what is too small or the answer to a POST varies too`(method: String, answer: [UInt8]) throws {
        let proxy = try TestProxy(answer)
        #expect(try proxy.fetch("/feed", method: method, body: []).members("Vary") == both)
    }

    @Test func `where nothing is ever coded nothing varies`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: first))
        #expect(try proxy.fetch("/image")["Vary"] == nil)
    }

    @Test func `a route without dictionaries varies by Accept-Encoding alone`() throws {
        let proxy = try TestProxy(json(first), #"routes: [{match: "/*", dictionary: off}]"#)
        #expect(try proxy.fetch("/feed").members("Vary") == ["accept-encoding"])
    }

    @Test(arguments: [("dcz", "no-store"), ("dcb", "no-store"), ("gzip", nil), ("identity", nil)])
    func `shared caches are told not to store what is coded over a dictionary`(
        coding: String, control: String?
    ) throws {
        let proxy = try TestProxy(Origin([json(first), json(second, "Cache-Control: public, max-age=60")]))
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first, accept: coding)
        #expect(answer["CDN-Cache-Control"] == control)
        #expect(answer["Cache-Control"] == "public, max-age=60")
    }

    @Test func `no field for the caches of one CDN contradicts that`() throws {
        let fields = [
            "Surrogate-Control: max-age=9", "Vendor-CDN-Cache-Control: max-age=9", "Edge-Control: !no-store",
        ]
        let upstream = [first, second].map { body in
            wire(
                (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n"),
                body: body)
        }
        let proxy = try TestProxy(Origin(upstream))
        let plain = try proxy.fetch("/feed")
        let delta = try proxy.fetch("/feed", over: first)
        #expect(delta.coding == "dcz" && delta.values("CDN-Cache-Control") == ["no-store"])
        for name in ["Surrogate-Control", "Vendor-CDN-Cache-Control", "Edge-Control"] {
            #expect(plain[name] != nil && delta[name] == nil)
        }
    }

    @Test func `trusted caches may store, and know by what the answer varies`() throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second)]),
            #"routes: [{match: "/*", dictionary: {shared_caches: trust, delivery: in_band}}]"#)
        let names = (both + ["origin", "sec-fetch-mode", "sec-fetch-site"]).sorted()
        #expect(try proxy.fetch("/feed").members("Vary") == names)
        let answer = try proxy.fetch("/feed", over: first)
        #expect(answer.coding == "dcz")
        #expect(answer["CDN-Cache-Control"] == nil)
        #expect(answer.members("Vary") == names)
    }
}
