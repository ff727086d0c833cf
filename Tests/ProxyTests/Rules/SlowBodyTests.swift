internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 2_400)
private let second = Feed.bytes(version: 1, items: 2_400)
private let heldBytes = 600_000

/// An upstream that gives `first` whole, and then `second` in two pieces with more than the hold between; it sends the
/// second piece once the gate is open, and breaks off instead if it is told to.
private func slow(_ gate: Gate, breaksOff: Bool = false) throws -> Origin {
    let calls = CallCounter()
    return try Origin { request, connection in
        guard request.target == "/feed" else {
            connection.send(json(Feed.bytes(version: 0, items: 1)))
            return
        }
        let isFirst = calls.next() == 1
        guard !isFirst else {
            connection.send(json(first))
            return
        }
        connection.send(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                "Transfer-Encoding: chunked") + chunk(Array(second.prefix(heldBytes))))
        gate.wait()
        if breaksOff {
            connection.finish()
        } else {
            connection.send(chunk(Array(second.dropFirst(heldBytes))) + chunk([]))
        }
    }
}

@Suite(.timeLimit(.minutes(40))) struct SlowBodyTests {
    @Test(arguments: ["dcz", "dcb", "zstd", "br", "gzip"])
    func `what was held for long is coded beside the loop, which serves others meanwhile`(coding: String)
        throws
    {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate))
        _ = try proxy.fetch("/feed")
        let gates = try proxy.blockPool(bytes: 1)
        let client = try proxy.connect()
        let isDelta = coding.hasPrefix("dc")
        client.send(request("/feed", ["Accept-Encoding: \(coding)"] + (isDelta ? [available(first)] : [])))
        // Its encoder waits for the pool, its head does not.
        var answer = try client.receiveHead()
        #expect(answer.coding == coding)
        for _ in 0..<8 { #expect(try proxy.fetch("/other").status == 200) }
        #expect(client.isQuiet(milliseconds: 50))
        gate.open()
        for gate in gates { gate.open() }
        while let piece = client.receivePiece(of: answer), !piece.isEmpty { answer.body += piece }
        answer.isWhole = true
        #expect(try answer.carriesDecoded(second, over: first))
        gate.open()
        // The body was offered to a client without a dictionary.
        #expect(try proxy.fetch("/feed", over: isDelta ? first : second).contentCoding.usesDictionary)
    }

    @Test(arguments: ["dcz", "dcb"])
    func `a dictionary of more than a MiB is indexed beside the loop`(coding: String) throws {
        let large = (Feed.bytes(version: 0, items: 6_000), Feed.bytes(version: 1, items: 6_000))
        let gate = Gate()
        let calls = CallCounter()
        let origin = try Origin { _, connection in
            let isFirst = calls.next() == 1
            if isFirst { return _ = connection.send(json(large.0)) }
            // Its length is known, so that dcz may be used, and little of it has come.
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(large.1.count)")
                    + large.1.prefix(1_000))
            gate.wait()
            connection.send(Array(large.1.dropFirst(1_000)))
        }
        let proxy = try TestProxy(origin)
        _ = try proxy.fetch("/feed")
        #expect(large.0.count > 1 << 20)
        let gates = try proxy.blockPool(bytes: 1)
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: \(coding)", available(large.0)]))
        var answer = try client.receiveHead()
        #expect(answer.coding == coding)
        #expect(
            client.isQuiet(milliseconds: 50), "not even the coding's header: the encoder waits for the pool")
        let waiting = proxy.server.context.compressionPool.waitingBytes
        #expect(waiting > large.0.count, "the indexing counts as work")
        for gate in gates { gate.open() }
        gate.open()
        while let piece = client.receivePiece(of: answer), !piece.isEmpty { answer.body += piece }
        answer.isWhole = true
        #expect(try answer.carriesDecoded(large.1, over: large.0))
    }

    @Test func `with all places taken a slow body goes on plain`() throws {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate), "explain: true")
        _ = try proxy.fetch("/feed")
        let gates = try proxy.blockPool(bytes: 16 << 20)
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: dcz, gzip", available(first)]))
        var answer = try client.receiveHead()
        #expect(answer.coding == "identity")
        #expect(answer["Dictum-Explain"]?.contains("reason=busy") == true)
        gate.open()
        while let piece = client.receivePiece(of: answer), !piece.isEmpty { answer.body += piece }
        answer.isWhole = true
        #expect(answer.carries(second))
        for gate in gates { gate.open() }
    }

    @Test
    func `an upstream that waits for an acknowledgement between head and body is not waited for in vain`()
        throws
    {
        // Two writes and no TCP_NODELAY, as Python's http.server does it.
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(first.count)"))
            connection.send(first)
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        // A new connection acknowledges at once by itself, for a while.
        let tags = try (0..<60).map { _ in
            client.send(request("/feed", []))
            return try client.receive()["ETag"]
        }
        // Only bodies that are complete within 25 ms of their head get an ETag; on a busy machine some are late.
        #expect(tags.dropFirst(20).contains { $0 != nil }, "\(tags)")
    }

    @Test func `of a body that goes on as it comes no more memory is taken than of it is here`() throws {
        let (gate, length) = (Gate(), 4 << 20)
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: image/png", "Content-Length: \(length)")
                    + Noise.bytes(1000, seed: 1))
            gate.wait()
            connection.send(Noise.bytes(length - 1000, seed: 2))
        }
        // The proxy holds back only bodies that a route compresses.
        let proxy = try TestProxy(origin, "compression: {types: [image/png], codings: [dcz]}")
        let client = try proxy.connect()
        client.send(request("/image", []))
        let head = try client.receiveHead()
        #expect(head["Content-Length"] == "\(length)")
        #expect(try proxy.metric("dictum_compression_memory_bytes") <= 1000)
        gate.open()
    }

    @Test func `an upstream that breaks off while the encoder is made leaves no answer that looks whole`()
        throws
    {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate, breaksOff: true))
        _ = try proxy.fetch("/feed")
        let gates = try proxy.blockPool(bytes: 1)
        let client = try proxy.connect()
        client.send(request("/feed", ["Accept-Encoding: dcz", available(first)]))
        let answer = try client.receiveHead()
        #expect(answer.coding == "dcz")
        gate.open()
        for gate in gates { gate.open() }
        var last: [UInt8]? = [0]
        while let piece = last, !piece.isEmpty { last = client.receivePiece(of: answer) }
        #expect(last == nil, "no last chunk")
    }

    @Test func `a client that leaves while its encoder is made takes nothing with it`() throws {
        let gate = Gate()
        let proxy = try TestProxy(slow(gate))
        _ = try proxy.fetch("/feed")
        let gates = try proxy.blockPool(bytes: 1)
        var client: WireSocket? = try proxy.connect()
        client?.send(request("/feed", ["Accept-Encoding: dcz", available(first)]))
        #expect(try client?.receiveHead().coding == "dcz")
        client?.resetOnEnd()
        client = nil
        gate.open()
        try waitUntil("the aborted response is counted") {
            try proxy.metric("dictum_aborted_responses_total") > 0
        }
        for gate in gates { gate.open() }
        gate.open()
        #expect(try proxy.fetch("/feed", over: first, accept: "dcz").carriesDecoded(second, over: first))
    }
}
