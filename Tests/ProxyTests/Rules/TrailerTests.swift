internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)

/// A chunked 200 of JSON in wire bytes, with trailers.
private func trailed(_ body: [UInt8], _ trailers: [String], _ fields: String...) -> [UInt8] {
    json(
        chunk(body) + lastChunk(trailers), (["Transfer-Encoding: chunked"] + fields).joined(separator: "\r\n")
    )
}

private func lastChunk(_ trailers: [String]) -> [UInt8] {
    Array((["0"] + trailers + ["", ""]).joined(separator: "\r\n").utf8)
}

/// An upstream that sends the head and half of a body, and the rest with its trailers once the gate is open.
private func slow(_ gate: Gate, _ body: [UInt8], _ trailers: [String], type: String = "application/json")
    throws
    -> Origin
{
    try Origin { _, connection in
        connection.send(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: \(type)", "Cache-Control: public",
                "Transfer-Encoding: chunked", "Trailer: X-Sum, Repr-Digest"))
        connection.send(chunk(Array(body.prefix(1_000))))
        gate.wait()
        connection.send(chunk(Array(body.dropFirst(1_000))) + lastChunk(trailers))
    }
}

private let digests = ["Repr-Digest: sha-256=:x:", "Content-Digest: sha-256=:x:", "Digest: sha-256=x"]

@Suite(.timeLimit(.minutes(40))) struct TrailerTests {
    // MARK: Responses: what is dropped

    @Test(arguments: [
        "Content-Length: 5", "Content-Encoding: br", "Content-Type: text/html", "Transfer-Encoding: chunked",
        "Trailer: X", "Set-Cookie: a=b", "ETag: \"b\"", "Cache-Control: public", "Vary: *",
        "Use-As-Dictionary: match=\"/*\"", "Available-Dictionary: :a:", "Link: </d>; rel=dictionary",
        "Alt-Svc: clear", "Strict-Transport-Security: max-age=1", "Dictum-Explain: x", "Connection: close",
        "Location: /", "Content-Security-Policy: x",
    ])
    func `what a trailer section must not hold is neither sent nor announced`(line: String) throws {
        let name = String(line.prefix { $0 != ":" })
        let proxy = try TestProxy(trailed(first, [line, "X-Sum: 7"], "Trailer: \(name), X-Sum"))
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(first))
        #expect(answer.trailers == ["X-Sum: 7"])
        #expect(answer["Trailer"] == "X-Sum")
        // Alone it leaves nothing that would need chunks.
        let alone = try TestProxy(trailed(first, [line], "Trailer: \(name)")).fetch("/feed")
        #expect(alone.carries(first))
        #expect(alone.length == first.count)
        #expect(alone["Trailer"] == nil)
    }

    @Test func `trailers that were announced and did not come leave the length, and no announcement`() throws
    {
        let answer = try TestProxy(trailed(first, [], "Trailer: X-Sum")).fetch("/feed")
        #expect(answer.carries(first))
        #expect(answer.length == first.count)
        #expect(answer["Trailer"] == nil)
    }

    @Test(arguments: ["gzip", "br", "zstd", "dcb", "dcz"])
    func `digests of the upstream's bytes do not follow a body in another coding`(coding: String) throws {
        let proxy = try TestProxy(
            Origin([json(first), trailed(second, digests + ["X-Sum: 7"], "Trailer: Repr-Digest, X-Sum")]))
        _ = try proxy.fetch("/feed")
        let coded = try proxy.fetch("/feed", over: first, accept: coding)
        #expect(coded.coding == coding)
        #expect(try coded.carriesDecoded(second, over: first))
        #expect(coded.trailers == ["X-Sum: 7"])
        #expect(coded["Trailer"] == "X-Sum")
        let plain = try proxy.fetch("/feed", over: first, accept: "identity")
        #expect(plain.carries(second))
        #expect(plain.trailers == digests + ["X-Sum: 7"])
        #expect(plain["Trailer"] == "Repr-Digest, X-Sum")
    }

    @Test func `digests alone leave a coded body its length`() throws {
        let proxy = try TestProxy(trailed(first, digests, "Trailer: Repr-Digest"))
        let coded = try proxy.fetch("/feed", "Accept-Encoding: gzip")
        #expect(try coded.carriesDecoded(first))
        #expect(coded.coding == "gzip")
        #expect(coded.length == coded.body.count)
        #expect(coded["Trailer"] == nil)
    }

    @Test func `a body that is decoded for the client loses the digests of its coding`() throws {
        let gzip = try Codec.encode(first.span, .gzip, options: EncoderOptions(bodyBytes: first.count))
        let proxy = try TestProxy(trailed(gzip, digests + ["X-Sum: 7"], "Content-Encoding: gzip"))
        let plain = try proxy.fetch("/feed", "Accept-Encoding: identity")
        #expect(plain.carries(first))
        #expect(plain.trailers == ["X-Sum: 7"])
        let passed = try proxy.fetch("/feed", "Accept-Encoding: gzip")
        #expect(passed.carries(gzip))
        #expect(passed.trailers == digests + ["X-Sum: 7"])
    }

    @Test func `an HTTP 1.0 client gets the length, and neither trailers nor their announcement`() throws {
        let proxy = try TestProxy(trailed(first, ["X-Sum: 7"], "Trailer: X-Sum"))
        let client = try proxy.connect()
        client.send(wire("GET /feed HTTP/1.0", "Host: api.test", "TE: trailers"))
        let answer = try client.receive()
        #expect(answer.carries(first))
        #expect(answer.length == first.count)
        #expect(answer["Trailer"] == nil)
        #expect(!String(decoding: client.receiveAll(), as: UTF8.self).contains("X-Sum"))
    }

    @Test func `an HTTP 1.0 client of a slow body gets the body alone`() throws {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate, first, ["X-Sum: 7"]))
        let client = try proxy.connect()
        client.send(wire("GET /feed HTTP/1.0", "Host: api.test"))
        let head = try client.receiveHead()
        #expect(head["Trailer"] == nil)
        gate.open()
        #expect(client.receiveAll() == first)
    }

    @Test func `HEAD and a 304 of Dictum's own end with their head, and the connection goes on`() throws {
        let origin = try Origin { request, connection in
            let isHead = request.method == "HEAD"
            let fields = [
                "HTTP/1.1 200 OK", "Content-Type: application/json", #"ETag: "v""#,
                "Transfer-Encoding: chunked", "Trailer: X-Sum",
            ]
            let body = chunk(first) + lastChunk(["X-Sum: 7"])
            connection.send(wire(fields.joined(separator: "\r\n")) + (isHead ? [] : body))
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(request("/feed", ["TE: trailers", "Connection: TE"], method: "HEAD"))
        #expect(try client.receive(isBodiless: true).status == 200)
        client.send(request("/feed", [#"If-None-Match: "v""#]))
        let unchanged = try client.receive()
        #expect(unchanged.status == 304)
        #expect(unchanged["Trailer"] == nil)
        client.send(request("/feed", []))
        let answer = try client.receive()
        #expect(answer.carries(first))
        #expect(answer.trailers == ["X-Sum: 7"])
    }

    @Test func `the identity of a private route is neither sent nor announced`() throws {
        let settings = """
            routes: [{match: /*, dictionary: {scope: private, identity: "response:X-Account"}}]
            """
        let proxy = try TestProxy(
            trailed(first, ["X-Account: ann", "X-Sum: 7"], "Trailer: X-Account, X-Sum"), settings)
        let answer = try proxy.fetch("/feed")
        #expect(answer.carries(first))
        #expect(answer.trailers == ["X-Sum: 7"])
        #expect(answer["Trailer"] == "X-Sum")
    }

    @Test(arguments: [[], ["Trailer: X-Sum"]])
    func `a response with trailers is not confirmed later, as they are not stored`(fields: [String]) throws {
        let answer = trailed(first, ["X-Sum: 7"], ([#"ETag: "v1""#] + fields).joined(separator: "\r\n"))
        let proxy = try TestProxy(answer, #"routes: [{match: "/*", dictionary: {revalidate: true}}]"#)
        for _ in 0..<3 { #expect(try proxy.fetch("/feed").trailers == ["X-Sum: 7"]) }
        #expect(proxy.origin.requests.allSatisfy { $0["If-None-Match"] == nil })
    }

    // MARK: Responses: faults

    @Test(arguments: [
        "X-Sum: 7\n\r\n", "X Sum: 7\r\n\r\n", "X-Sum: \u{1}\r\n\r\n", " X-Sum: 7\r\n\r\n", "X-Sum\r\n\r\n",
        "X-Sum: " + String(repeating: "7", count: 8_192) + "\r\n\r\n",
        String(repeating: "X-Sum: 7\r\n", count: 65) + "\r\n",
    ])
    func `a malformed or oversized trailer section is a 502 if the body was held`(section: String) throws {
        let bytes = json(chunk(first), "Transfer-Encoding: chunked") + Array("0\r\n\(section)".utf8)
        #expect(try TestProxy(bytes).fetch("/feed").status == 502)
    }

    @Test func `a malformed trailer section behind a body that has gone out is a reset`() throws {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate, first, ["X Sum: 7"]))
        let client = try proxy.connect()
        client.send(request("/feed", []))
        var answer = try client.receiveHead()
        gate.open()
        client.receiveBody(&answer)
        #expect(!answer.isWhole)
    }

    @Test func `a connection that ends within the trailers is a 502, not a whole response`() throws {
        let origin = try Origin { _, connection in
            connection.send(
                json(chunk(first), "Transfer-Encoding: chunked") + Array("0\r\nX-Sum: 7\r\n".utf8))
            connection.finish()
        }
        #expect(try TestProxy(origin).fetch("/feed").status == 502)
    }

    // MARK: Responses: what passes

    @Test(arguments: ["identity", "gzip", "br", "zstd", "dcb", "dcz"])
    func `the trailers of a held body follow it in every coding`(coding: String) throws {
        let proxy = try TestProxy(
            Origin([json(first), trailed(second, ["X-Sum: 7", "Server-Timing: a;dur=1"])]))
        _ = try proxy.fetch("/feed")
        // Twice: the second delta is a cached one.
        for _ in 0..<2 {
            let answer = try proxy.fetch(
                "/feed", over: first, "TE: trailers", "Connection: TE", accept: coding)
            #expect(answer.coding == coding)
            #expect(try answer.carriesDecoded(second, over: first))
            #expect(answer.trailers == ["X-Sum: 7", "Server-Timing: a;dur=1"])
            #expect(answer["Transfer-Encoding"] == "chunked")
            #expect(answer.length == nil)
        }
    }

    @Test func `a client that sends no TE gets them as well, whichever way the body goes`() throws {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate, first, ["X-Sum: 7"]))
        let client = try proxy.connect()
        client.send(request("/feed", []))
        var answer = try client.receiveHead()
        gate.open()
        client.receiveBody(&answer)
        #expect(answer.carries(first))
        #expect(answer.trailers == ["X-Sum: 7"])
        #expect(try TestProxy(trailed(first, ["X-Sum: 7"])).fetch("/feed").trailers == ["X-Sum: 7"])
    }

    @Test(arguments: ["identity", "gzip", "dcz"])
    func `the trailers of a streamed body follow it, without digests if it is coded`(coding: String) throws {
        let gate = Gate()
        let origin = try slow(gate, second, ["X-Sum: 7", digests[0]])
        let proxy = try TestProxy(origin)
        // The dictionary comes by the same route, whole.
        gate.open()
        let plain = try proxy.fetch("/feed")
        #expect(plain.carries(second))
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: \(coding)", available(second)]))
        var answer = try client.receiveHead()
        #expect(answer.coding == coding)
        gate.open()
        client.receiveBody(&answer)
        #expect(try answer.carriesDecoded(second, over: second))
        #expect(answer.trailers == (coding == "identity" ? ["X-Sum: 7", digests[0]] : ["X-Sum: 7"]))
        #expect(answer["Trailer"] == (coding == "identity" ? "X-Sum, Repr-Digest" : "X-Sum"))
    }

    @Test func `the trailers of the upstream that a retry reached follow`() throws {
        let one = try Origin { _, connection in connection.finish() }
        let two = try Origin(trailed(first, ["X-Sum: 7"]))
        let proxy = try TestProxy(
            one, urls: ["http://127.0.0.1:\(one.port)", "http://127.0.0.1:\(two.port)"])
        for _ in 0..<2 {
            let answer = try proxy.fetch("/feed")
            #expect(answer.carries(first))
            #expect(answer.trailers == ["X-Sum: 7"])
        }
        #expect(!one.requests.isEmpty && !two.requests.isEmpty)
        two.stop()
    }

    // MARK: HTTP/2

    @Test(arguments: ["identity", "dcz"])
    func `over HTTP 2 trailers follow a held body, which keeps its length`(coding: String) throws {
        let proxy = try TestProxy(Origin([json(first), trailed(second, ["X-Sum: 7", digests[0]])]))
        let offer = try proxy.fetch("/feed")
        #expect(offer.carries(first))
        let peer = try HTTP2Peer(port: TestProxy.port(proxy.server.endpoints.first))
        let held = available(first).split(separator: " ", maxSplits: 1)[1]
        peer.request(1, "/feed", [("accept-encoding", coding), ("available-dictionary", String(held))])
        let answer = try #require(peer.response(1))
        #expect(answer.status == "200")
        #expect(answer["content-encoding"] == (coding == "identity" ? nil : coding))
        #expect(answer["content-length"] == "\(answer.body.count)")
        #expect(answer.trailers == ["x-sum: 7"] + (coding == "identity" ? ["repr-digest: sha-256=:x:"] : []))
        let body =
            coding == "identity"
            ? answer.body
            : try Codec.decode(
                answer.body.span, .dcz, dictionary: Body(first), limits: DecoderLimits(maxBytes: 1 << 28))
        #expect(body == second)
    }

    @Test func `over HTTP 2 a client's trailers reach the upstream, but for forbidden ones`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", body: []))
        let peer = try HTTP2Peer(port: TestProxy.port(proxy.server.endpoints.first))
        peer.request(1, "/upload", method: "POST", [("te", "trailers")], endsStream: false)
        peer.data(1, [1, 2])
        peer.send(
            HTTP2Peer.Kind.headers, 5, stream: 1,
            payload: HTTP2Peer.block([
                ("x-sum", "7"), ("authorization", "Basic eDp5"), ("x-forwarded-for", "192.0.2.1"),
                ("x-request-id", "mine"),
            ]))
        #expect(try #require(peer.response(1)).status == "200")
        let received = try #require(proxy.origin.requests.first)
        #expect(received.body == [1, 2])
        #expect(received.trailers.map { $0.lowercased() } == ["x-sum: 7"])
        #expect(received["TE"] == "trailers")
    }

    // MARK: Requests

    @Test(arguments: [
        ("X Sum: 7\r\n\r\n", 400), ("X-Sum: 7\n\r\n", 400),
        ("X-Sum: " + String(repeating: "7", count: 8_192) + "\r\n\r\n", 431),
        (String(repeating: "X-Sum: 7\r\n", count: 65) + "\r\n", 431),
    ])
    func `a malformed or oversized trailer section ends the request`(section: String, status: Int) throws {
        // It has not got the whole request, so it sends nothing.
        let proxy = try TestProxy(Origin { _, _ in })
        let client = try proxy.connect()
        client.send(Self.upload + chunk([1, 2]) + Array("0\r\n\(section)".utf8))
        #expect(try client.receive().status == status)
        #expect(client.receiveAll().isEmpty)
    }

    private static let upload = request(
        "/upload",
        ["Content-Type: text/plain", "Transfer-Encoding: chunked", "Trailer: X-Sum, Host, X-Request-ID"],
        method: "POST")

    @Test func `a client's trailers reach the upstream, without those that it must not set`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", body: []))
        let client = try proxy.connect()
        client.send(
            Self.upload + chunk([1, 2])
                + lastChunk([
                    "X-Sum: 7", "Host: other.test", "Content-Length: 0", "X-Forwarded-For: 192.0.2.1",
                    "Authorization: Basic eDp5", "X-Request-ID: mine", "X_Request_ID: mine",
                    "X-Forwarded-Prefix: /a", "Repr-Digest: sha-256=:x:",
                ]))
        #expect(try client.receive().status == 200)
        let received = try #require(proxy.origin.requests.first)
        #expect(received.body == [1, 2])
        #expect(received.trailers == ["X-Sum: 7", "Repr-Digest: sha-256=:x:"])
        #expect(received["Trailer"] == "X-Sum, X-Request-ID")
        // The head is what it was.
        #expect(received["Host"] == "api.test")
        #expect(received["X-Forwarded-For"] == "127.0.0.1")
    }

    @Test(arguments: ["X-Client-Subject", "X_Client_Subject", "x.client-subject"])
    func `a subject in the trailers claims no certificate`(sentName: String) throws {
        var trailers = Headers()
        let subject = try #require(HeaderName("X-Client-Subject"))
        trailers.append(try #require(HeaderName(sentName)), "CN=root")
        trailers.append(.serverTiming, "a")
        let sent = UpstreamRequest.trailers(
            trailers, without: [subject], requestID: nil, edits: nil, isDecoded: false)
        #expect(sent.count == 1 && sent.contains(.serverTiming))
    }

    @Test func `trailers go along to the upstream that is asked instead of an unreachable one`() throws {
        let gone = try Origin { _, _ in }
        let address = "http://127.0.0.1:\(gone.port)"
        gone.stop()
        let two = try Origin(wire("HTTP/1.1 200 OK", body: []))
        let proxy = try TestProxy(two, urls: [address, "http://127.0.0.1:\(two.port)"])
        for _ in 0..<2 {
            let client = try proxy.connect()
            client.send(Self.upload + chunk([1, 2]) + lastChunk(["X-Sum: 7"]))
            #expect(try client.receive().status == 200)
        }
        #expect(two.requests.map(\.trailers) == [["X-Sum: 7"], ["X-Sum: 7"]])
    }

    @Test(
        arguments: [
            ("TE: trailers", "TE", "trailers"), ("TE: gzip;q=0.5, Trailers", "TE", "trailers"),
            ("TE: gzip", "TE", nil), ("Accept: */*", "keep-alive", nil),
        ] as [(String, String, String?)])
    func `only TE trailers passes on, and names itself in Connection`(
        field: String, option: String, passed: String?
    ) throws {
        let proxy = try TestProxy(json(first))
        _ = try proxy.fetch("/feed", field, "Connection: \(option)")
        let received = try #require(proxy.origin.requests.first)
        #expect(received["TE"] == passed)
        #expect(received.members("Connection").contains("te") == (passed != nil))
    }
}
