internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let held = Feed.bytes(version: 0, items: 40)
private let changed = Feed.bytes(version: 1, items: 40)
/// Longer than what is held for its length.
private let long = Feed.bytes(version: 2, items: 2_000)

/// Bodies of requests that are coded over a dictionary which was offered (RFC 9842 section 5).
@Suite(.timeLimit(.minutes(40))) struct UploadTests {
    private static let route = "routes: [{match: /doc, requests: dictionary}, {match: /other}]"

    /// A proxy whose upstream gives `held`, and takes what comes.
    private func proxy(
        _ settings: String = route, upstream: String = "",
        _ fields: String = "Cache-Control: public, max-age=60"
    ) throws -> TestProxy {
        try TestProxy(Self.origin(fields), upstream: upstream, settings)
    }

    private static func origin(_ fields: String = "Cache-Control: public, max-age=60") throws -> Origin {
        try Origin { request, connection in
            if let status = request["X-Status"] {
                return _ = connection.send(wire("HTTP/1.1 \(status)", body: []))
            }
            // What answers an operation is long enough for a version.
            let isDocument = request.method == "GET" || request["X-Operation"] != nil
            connection.send(json(isDocument ? held : Array("taken".utf8), fields))
        }
    }

    /// A body in dcz: the header byte for byte, then a frame of the zstd tool.
    private static func dcz(_ body: [UInt8], over dictionary: [UInt8] = held, naming: [UInt8]? = nil) throws
        -> [UInt8]
    {
        let frame = try ForeignTool.run(
            "zstd", ["-cq", "-D", "dictionary"], input: body, files: ["dictionary": dictionary])
        let named = naming ?? dictionary
        return [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00] + Digest(of: named.span).bytes + frame
    }

    private func put(
        _ proxy: TestProxy, _ body: [UInt8], _ fields: String..., target: String = "/doc",
        coding: String = "dcz", method: String = "PUT"
    ) throws -> WireMessage {
        let fields = (["Content-Encoding: \(coding)"] + fields).joined(separator: "\r\n")
        return try proxy.fetch(target, fields, method: method, body: body)
    }

    /// The last request that the upstream got.
    private func uploaded(_ proxy: TestProxy) throws -> WireMessage {
        try #require(proxy.origin.requests.last)
    }

    private func untilAllIsBack(_ proxy: TestProxy) throws {
        let shared = proxy.server.context.shared
        try waitUntil("every place and all memory is given back") {
            shared.places.counts.taken == 0 && shared.coding.memory.takenBytes == 0
        }
    }

    // MARK: What the upstream gets

    @Test(arguments: ["PUT", "POST", "PATCH", "QUERY"])
    func `the upstream gets the plain body, with its length and without the fields of the coded bytes`(
        method: String
    ) throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let answer = try put(
            proxy, Self.dcz(changed), "Content-Digest: sha-256=:AAAA:", "Repr-Digest: sha-256=:AAAA:",
            "Digest: a", "Content-MD5: b", "Content-Type: application/json", "Content-Language: de",
            "Dictionary-ID: \"x\"", method: method)
        #expect(answer.status == 200 && answer.text == "taken")
        let got = try uploaded(proxy)
        #expect(got.method == method && got.carries(changed))
        #expect(got.values("Content-Length") == ["\(changed.count)"] && got["Transfer-Encoding"] == nil)
        for name in [
            "Content-Encoding", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "Dictionary-ID",
        ] {
            #expect(got[name] == nil, "\(name)")
        }
        #expect(got["Content-Type"] == "application/json" && got["Content-Language"] == "de")
        try untilAllIsBack(proxy)
    }

    @Test(arguments: [changed, long])
    func `a body in single bytes, chunked, is the same body`(body: [UInt8]) throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let client = try proxy.connect()
        client.send(
            wire("PUT /doc HTTP/1.1", "Host: api.test", "Content-Encoding: dcz", "Transfer-Encoding: chunked")
        )
        let coded = try Self.dcz(body)
        let single = min(400, coded.count - 1)
        for byte in coded.prefix(single) { client.send(chunk([byte])) }
        client.send(chunk(Array(coded.dropFirst(single))) + chunk([]))
        #expect(try client.receive().status == 200)
        let got = try uploaded(proxy)
        #expect(got.carries(body))
        #expect((got["Transfer-Encoding"] == "chunked") == (body.count > UploadDecoding.heldBytesMax))
        // The connection goes on.
        client.send(request("/doc", []))
        #expect(try client.receive().carries(held))
        try untilAllIsBack(proxy)
    }

    @Test func `trailers go on without digests of the coded bytes`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let client = try proxy.connect()
        client.send(
            wire("PUT /doc HTTP/1.1", "Host: api.test", "Content-Encoding: dcz", "Transfer-Encoding: chunked")
                + chunk(try Self.dcz(changed))
                + Array("0\r\nX-Sum: 1\r\nContent-Digest: sha-256=:AAAA:\r\n\r\n".utf8))
        #expect(try client.receive().status == 200)
        let got = try uploaded(proxy)
        #expect(got.carries(changed) && got.trailers == ["X-Sum: 1"])
    }

    @Test func `the members of a decoded body name its operation`() throws {
        let proxy = try proxy(
            "explain: true\nroutes: [{match: /doc, requests: dictionary, dictionary: {methods: [GET, POST], key: [op]}}]"
        )
        _ = try proxy.fetch("/doc")
        let text = Array(#"{"op":"Feed"}"#.utf8)
        #expect(try put(proxy, Self.dcz(text), "X-Operation: 1", method: "POST").status == 200)
        let chain = ChainKey(authority: "api.test", match: "/doc")
        let key = VersionKey(chain: chain, url: "/doc", variant: "4:{op}=4:Feed;")
        #expect(
            proxy.server.context.store.reader().newest(key)?.digest == Digest(of: held.span))
    }

    // MARK: Who may send it

    @Test func `responses of such a route announce the coding, others do not`() throws {
        let proxy = try proxy()
        #expect(try proxy.fetch("/doc").values("Accept-Encoding") == ["dcz"])
        #expect(try proxy.fetch("/doc", "X-Status: 404 Not Found")["Accept-Encoding"] == "dcz")
        #expect(try proxy.fetch("/doc", "X-Status: 415 Unsupported Media Type")["Accept-Encoding"] == nil)
        #expect(try proxy.fetch("/other")["Accept-Encoding"] == nil)
        #expect(try proxy.turn("off") == 200)
        #expect(try proxy.fetch("/doc")["Accept-Encoding"] == nil)
        let refusal = try put(proxy, Self.dcz(changed))
        #expect(refusal.status == 415 && refusal["Accept-Encoding"] == "identity")
    }

    @Test(arguments: ["/other", "/none"])
    func `a route without the setting passes the body as it came`(target: String) throws {
        let proxy = try proxy(Self.route.replacing("]", with: ", {match: /none, dictionary: off}]"))
        _ = try proxy.fetch(target)
        let coded = try Self.dcz(changed)
        #expect(try put(proxy, coded, target: target).status == 200)
        let got = try uploaded(proxy)
        #expect(got.carries(coded) && got["Content-Encoding"] == "dcz")
    }

    @Test(arguments: ["gzip", "br", "zstd", "identity"])
    func `other codings pass as they came`(coding: String) throws {
        let proxy = try proxy()
        #expect(try put(proxy, [1, 2, 3], coding: coding).status == 200)
        #expect(try uploaded(proxy).carries([1, 2, 3]) && uploaded(proxy)["Content-Encoding"] == coding)
    }

    @Test(arguments: [
        ("dcb", "X-A: 1"), ("dcz, gzip", "X-A: 1"), ("gzip, DCZ", "X-A: 1"), ("dcz, dcz", "X-A: 1"),
        ("dcz", "Content-Range: bytes 0-9/10"), ("dcz", "Cache-Control: no-transform"),
    ])
    func `what Dictum does not undo gets 415 with what it would`(coding: String, field: String) throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let refusal = try put(proxy, Self.dcz(changed), field, coding: coding)
        #expect(refusal.status == 415 && refusal["Accept-Encoding"] == "dcz")
        #expect(proxy.origin.requests.count == 1)
    }

    @Test func `a dictionary that was never offered gets 415, and is counted`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let refusal = try put(proxy, Self.dcz(changed, over: changed))
        #expect(refusal.status == 415 && refusal["Accept-Encoding"] == "dcz")
        #expect(try proxy.metric(#"dictum_rejected_requests_total{reason="request-dictionary"}"#) == 1)
        // Another path's version is none of this path's.
        #expect(try put(proxy, Self.dcz(changed), target: "/doc?x=1").status == 200)
        let two = try self.proxy("routes: [{match: /doc/*, requests: dictionary}]")
        _ = try two.fetch("/doc/a")
        #expect(try put(two, Self.dcz(changed), target: "/doc/b").status == 415)
        #expect(try put(two, Self.dcz(changed), target: "/doc/a").status == 200)
    }

    @Test func `a personal dictionary needs the id that came with it`() throws {
        let proxy = try self.proxy(Self.route, "Cache-Control: max-age=60")
        let ann = "Authorization: Bearer ann"
        let offer = try #require(
            proxy.fetch("/doc", ann)["Use-As-Dictionary"].flatMap { UseAsDictionary.parse([$0]) })
        #expect(offer.id.utf8.count == 22)
        let coded = try Self.dcz(changed)
        let made = String(repeating: "A", count: 22)
        for id in ["", "Dictionary-ID: \"\(made)\"\r\n", "Dictionary-ID: \(offer.id)\r\n"] {
            let refusal = try put(proxy, coded, id + ann)
            #expect(refusal.status == 415, "\(id)")
        }
        let proof = "Dictionary-ID: \"\(offer.id)\""
        #expect(
            try put(proxy, coded, proof, ann, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors").status
                == 415)
        #expect(try put(proxy, coded, proof, ann).status == 200)
        #expect(try uploaded(proxy).carries(changed))
    }

    @Test func `a version that only another node has is asked for`() throws {
        let fleet = try TestFleet(2, "routes: [{match: /feed, requests: dictionary}]")
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        let coded = try Self.dcz(changed, over: TestFleet.body(0))
        #expect(try put(fleet.nodes[1], coded, target: "/feed").status == 200)
        #expect(try uploaded(fleet.nodes[1]).carries(changed))
        #expect(fleet.lookUps(1, .hit) == 1)
        #expect(try put(fleet.nodes[1], Self.dcz(changed, over: changed), target: "/feed").status == 415)
    }

    @Test func `a version that the shared store has lost gets 415, and counts as unknown once`() throws {
        let fleet = try TestFleet(2, "routes: [{match: /feed, requests: dictionary}]")
        try fleet.fetch(0, version: 0)
        try fleet.untilKnown(1)
        try fleet.redis.command("DEL", #require(fleet.keys().first))
        let coded = try Self.dcz(changed, over: TestFleet.body(0))
        #expect(try put(fleet.nodes[1], coded, target: "/feed").status == 415)
        #expect(fleet.lookUps(1, .miss) == 1)
        let statistics = fleet.nodes[1].server.context.store.statistics
        #expect(statistics.advertisedUnknown == 1 && statistics.advertisedFound == 0)
    }

    // MARK: Bodies that are refused

    @Test func `a malformed body gets 400, and never reaches the upstream`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let good = try Self.dcz(changed)
        let formatted = try Self.dcz(changed, over: changed, naming: held)
        for body in [
            [], Array(good.prefix(20)), Array(good.prefix(40)), Array(good.dropLast()), good + [0],
            [0xff, 0x44, 0x43, 0x42] + good, Array(good.dropFirst(40)), formatted,
        ] {
            let refusal = try put(proxy, body)
            #expect(refusal.status == 400, "\(body.prefix(50))")
        }
        #expect(proxy.origin.requests.count == 1)
        try untilAllIsBack(proxy)
    }

    @Test func `a decoded body over the limit gets 413, one at the limit does not`() throws {
        let limit = 4 << 10
        let proxy = try proxy(
            "routes: [{match: /doc, requests: dictionary, limits: {request_body: 4KiB}}]")
        _ = try proxy.fetch("/doc")
        #expect(try put(proxy, Self.dcz(Array(changed.prefix(limit)))).status == 200)
        #expect(try put(proxy, Self.dcz(Array(changed.prefix(limit + 1)))).status == 413)
        // A few bytes stand for many.
        let bomb = try Self.dcz([UInt8](repeating: 65, count: 64 << 20))
        #expect(bomb.count < 16 << 10)
        #expect(try put(proxy, bomb).status == 413)
        #expect(proxy.origin.requests.count == 2)
        let wide = try self.proxy("limits: {request_body: 1GiB}\n" + Self.route)
        _ = try wide.fetch("/doc")
        #expect(try put(wide, bomb).status == 413, "the ratio")
        try untilAllIsBack(proxy)
    }

    @Test func `a body that breaks after its beginning went up is never whole there`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let coded = try Self.dcz(long)
        var flipped = coded
        flipped[coded.count - 2] ^= 1
        for broken in [flipped, Array(coded.dropLast(4)), coded + [0]] {
            #expect(try put(proxy, broken).status == 400)
        }
        #expect(proxy.origin.requests.count == 1, "the upstream counts whole requests only")
        try untilAllIsBack(proxy)
    }

    @Test func `a client that waits for 100 gets one, though the upstream sends another`() throws {
        let origin = try Origin { request, connection in
            let interim = request.method == "GET" ? "" : "HTTP/1.1 100 Continue\r\n\r\n"
            connection.send(Array(interim.utf8) + json(held, "Cache-Control: public, max-age=60"))
        }
        let proxy = try TestProxy(origin, Self.route)
        _ = try proxy.fetch("/doc")
        let coded = try Self.dcz(changed)
        let client = try proxy.connect()
        client.send(
            wire(
                "PUT /doc HTTP/1.1", "Host: api.test", "Connection: close", "Expect: 100-continue",
                "Content-Encoding: dcz", "Content-Length: \(coded.count)"))
        #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send(coded)
        #expect(client.readHead().hasPrefix("HTTP/1.1 200"))
    }

    @Test func `without memory the client gets 503, and nothing goes up`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let memory = proxy.server.context.shared.coding.memory
        let taken = memory.limitBytes - memory.takenBytes
        #expect(memory.reserve(taken))
        let refusal = try put(proxy, Self.dcz(changed))
        #expect(refusal.status == 503 && refusal["Retry-After"] == "1")
        memory.release(taken)
        #expect(try put(proxy, Self.dcz(changed)).status == 200)
        #expect(proxy.origin.requests.count == 2)
    }

    @Test func `a body for which there is no memory counts, and the log names the setting`() throws {
        let proxy = try TestProxy(Self.origin(), Self.route, isLogged: true)
        _ = try proxy.fetch("/doc")
        let before = try proxy.metric("dictum_compression_busy_total")
        let memory = proxy.server.context.shared.coding.memory
        let taken = memory.limitBytes - memory.takenBytes
        #expect(memory.reserve(taken))
        #expect(try put(proxy, Self.dcz(changed)).status == 503)
        memory.release(taken)
        #expect(try proxy.metric("dictum_compression_busy_total") == before + 1)
        let lines = proxy.lastLines()
        #expect(lines.contains { $0.contains(#""error":"memory.coding is used up""#) }, "\(lines)")
    }

    @Test func `a client that leaves takes its memory along`() throws {
        let proxy = try proxy()
        _ = try proxy.fetch("/doc")
        let client = try proxy.connect()
        let coded = try Self.dcz(long)
        client.send(
            wire(
                "PUT /doc HTTP/1.1", "Host: api.test", "Content-Encoding: dcz",
                "Content-Length: \(coded.count)")
                + coded.dropLast(2_000))
        try waitUntil("it is being decoded") { proxy.server.context.shared.coding.memory.takenBytes > 0 }
        client.reset()
        try untilAllIsBack(proxy)
    }
}
