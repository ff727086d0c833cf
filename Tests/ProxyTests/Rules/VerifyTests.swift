internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let large = (Feed.bytes(version: 0, items: 850), Feed.bytes(version: 1, items: 850))

/// Changes a byte of every delta, as a broken library would.
private let fault: FaultyEncoder.Fault = { $0[max(0, $0.count - 5)] ^= 0x20 }

@Suite(.timeLimit(.minutes(40))) struct VerifyTests {
    @Test(arguments: [(first, second), large], ["dcz", "dcb"])
    func `a delta that is not exact is not sent, and turns dictionaries off for its route alone`(
        bodies: ([UInt8], [UInt8]), coding: String
    ) throws {
        let calls = Guarded<[String: Int]>([:])
        let origin = try Origin { request, connection in
            let isFirst = calls.withLock { calls in
                calls[request.target, default: 0] += 1
                return calls[request.target] == 1
            }
            connection.send(json(isFirst ? bodies.0 : bodies.1))
        }
        let settings = """
            explain: true
            routes:
              - {match: /feed, dictionary: {delivery: in_band}}
              - {match: /other, dictionary: {delivery: in_band}}
            """
        let proxy = try TestProxy(origin, settings, deltaFault: fault)
        for target in ["/feed", "/other"] {
            #expect(try proxy.fetch(target)["Use-As-Dictionary"] != nil)
        }

        let failed = try proxy.fetch("/feed", over: bodies.0, accept: coding)
        #expect(failed.carries(bodies.1))
        #expect(failed.coding == "identity")
        #expect(failed["CDN-Cache-Control"] == nil)
        #expect(failed["Dictum-Explain"]?.hasPrefix("identity;reason=verify-failed") == true)

        let after = try proxy.fetch("/feed", over: bodies.0, accept: "\(coding), gzip")
        #expect(after.coding == "gzip", "dictionaries are off, and nothing else")
        #expect(after["Dictum-Explain"]?.contains("reason=verify-failed") == true)
        #expect(after["Use-As-Dictionary"] == nil)
        #expect(try after.carriesDecoded(bodies.1))
        #expect(try proxy.fetch("/other")["Use-As-Dictionary"] != nil, "the other route is as it was")

        #expect(try proxy.metric("dictum_verify_failures_total") == 1)
        #expect(
            try proxy.metric(
                #"dictum_requests_total{route="/feed",coding="identity",reason="verify-failed"}"#) == 1)
        let errors = errors(proxy)
        #expect(errors.count == 1)
        let text = try #require(errors.first)
        #expect(text.contains("route /feed "))
        #expect(text.contains(Digest(of: bodies.0.span).hex))
        #expect(text.contains(Digest(of: bodies.1.span).hex))
        #expect(!text.contains("Creek"), "no bytes of a body")
        let shown = try proxy.read("/routes").list("routes").map { $0.text("dictionaries") }
        #expect(shown == ["distrusted", "on"])
        let warnings = try proxy.read("/status").list("warnings").compactMap { $0.text("text") }
        #expect(
            warnings.contains(
                "route /feed: a delta did not decode to its body; dictionaries are off until a reload"))
    }

    @Test func `the error of a delta for one user names neither of its bodies`() throws {
        let own = "Cache-Control: private, max-age=60"
        let proxy = try TestProxy(Origin([json(first, own), json(second, own)]), deltaFault: fault)
        _ = try proxy.fetch("/feed", "Cookie: sid=1")
        #expect(try proxy.fetch("/feed", over: first, "Cookie: sid=1").carries(second))
        let text = try #require(errors(proxy).first)
        #expect(text.contains("route /* "))
        for body in [first, second] { #expect(!text.contains(Digest(of: body.span).hex), "\(text)") }
    }

    /// The errors that an operator was told of.
    private func errors(_ proxy: TestProxy) -> [String] {
        proxy.events.withLock { $0 }.filter { $0.level == .error }.map(\.text)
    }

    /// Returns a complete response; nil if it is cut off, or if the connection is reset before its head is read.
    ///
    /// The gate opens once the head or a reset has come, so the proxy cannot hold the response until it is complete.
    private func receive(from client: WireSocket, andOpen gate: Gate) -> WireMessage? {
        let head = try? client.receiveHead()
        gate.open()
        guard var answer = head else { return nil }
        client.receiveBody(&answer)
        return answer.isWhole ? answer : nil
    }

    @Test(arguments: [("never", 0), ("sampled", 1), ("always", 4)])
    func `deltas that are sent only once are checked as the setting says`(mode: String, checks: Int) throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second, #"ETag: "2""#)]), "compression: {verify: \(mode)}")
        _ = try proxy.fetch("/feed")
        // Responses to POST are not stored, so no delta is kept for them. The body and the dictionary are too large to
        // index on a loop, so the second delta would be the first one over its index.
        for _ in 0..<4 {
            let answer = try proxy.fetch("/feed", over: first, method: "POST", body: [])
            #expect(try answer.carriesDecoded(second, over: first))
        }
        let isFirstOfIndex = mode == "sampled" ? 1 : 0
        #expect(try proxy.metric("dictum_verify_checks_total") == checks + isFirstOfIndex)
        #expect(try proxy.metric("dictum_verify_failures_total") == 0)
    }

    @Test(arguments: ["dcz", "dcb"])
    func `of streams the first over each index is checked`(coding: String) throws {
        let gates = (0..<3).map { _ in Gate() }
        let calls = CallCounter()
        let origin = try Origin { _, connection in
            let call = calls.next()
            guard call > 1 else { return _ = connection.send(json(large.0)) }
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(large.1.count)")
                    + large.1.prefix(50_000))
            gates[call - 2].wait()
            connection.send(Array(large.1.dropFirst(50_000)))
        }
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        var checks: [Double] = []
        for gate in gates {
            let client = try proxy.connect()
            client.send(request("/feed", ["Accept-Encoding: \(coding)", available(large.0)]))
            let answer = try #require(receive(from: client, andOpen: gate))
            #expect(try answer.carriesDecoded(large.1, over: large.0))
            checks.append(Double(try proxy.metric("dictum_verify_checks_total")))
        }
        // The first delta is the sampled one of a hundred, without an index. The second makes the index, and the third
        // uses it.
        #expect(checks == [1, 2, 2])
        let memory = proxy.server.context.compressionMemory
        try waitUntil("the memory is given back") { memory.takenBytes == 0 }
    }

    @Test(arguments: [ContentCoding.dcz, .dcb])
    func `the memory of a stream's check is taken for as long as the stream lasts`(coding: ContentCoding)
        throws
    {
        let gate = Gate()
        let calls = CallCounter()
        let origin = try Origin { _, connection in
            let isFirst = calls.next() == 1
            if isFirst { return _ = connection.send(json(large.0)) }
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(large.1.count)")
                    + large.1.prefix(50_000))
            gate.wait()
            connection.send(Array(large.1.dropFirst(50_000)))
        }
        let proxy = try TestProxy(origin, "compression: {verify: always}")
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: \(coding.token)", available(large.0)]))
        var answer = try client.receiveHead()
        // Its encoder is there, though another thread has made it.
        let piece = try #require(client.receivePiece(of: answer))
        #expect(!piece.isEmpty)
        var options = EncoderOptions(bodyBytes: large.1.count)
        options.dictionary = .reference(Body(large.0))
        let encoderBytes = Codec.memoryEstimate(for: coding, options: options)
        let memory = proxy.server.context.compressionMemory
        #expect(memory.takenBytes >= encoderBytes + Deltas.streamCheckBytes)
        gate.open()
        answer.body += piece
        while let piece = client.receivePiece(of: answer), !piece.isEmpty { answer.body += piece }
        answer.isWhole = true
        #expect(try answer.carriesDecoded(large.1, over: large.0))
        try waitUntil("the memory is given back") { memory.takenBytes == 0 }
    }

    @Test(arguments: ["dcz", "dcb"], [true, false])
    func `a stream that is not exact is cut off before the wrong bytes, and turns dictionaries off`(
        coding: String, isFaulty: Bool
    ) throws {
        let gate = Gate()
        let calls = CallCounter()
        let origin = try Origin { _, connection in
            let isFirst = calls.next() == 1
            if isFirst { return _ = connection.send(json(large.0)) }
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(large.1.count)")
                    + large.1.prefix(50_000))
            gate.wait()
            connection.send(Array(large.1.dropFirst(50_000)))
        }
        let proxy = try TestProxy(
            origin, "compression: {verify: always}", isLogged: true, deltaFault: isFaulty ? fault : nil)
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: \(coding)", available(large.0)]))
        let answer = receive(from: client, andOpen: gate)
        #expect((answer != nil) == !isFaulty)
        #expect(try answer?.carriesDecoded(large.1, over: large.0) != false)
        #expect(try proxy.metric("dictum_verify_checks_total") == 1)
        #expect(try proxy.metric("dictum_verify_failures_total") == (isFaulty ? 1 : 0))
        #expect(errors(proxy).count == (isFaulty ? 1 : 0))
        gate.open()
        #expect(try (proxy.fetch("/feed", over: large.0).coding == "identity") == isFaulty)
        let lines = proxy.lastLines()
        #expect(lines.contains { $0.contains(#""error":"the encoder failed""#) } == isFaulty, "\(lines)")
    }

    @Test func `a delta that is kept is checked whatever the setting`() throws {
        let proxy = try TestProxy(
            Origin([json(first), json(second)]), "compression: {verify: never}", deltaFault: fault)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: first).carries(second))
    }
}
