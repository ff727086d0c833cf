internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 850)
private let second = Feed.bytes(version: 1, items: 850)

/// The framing fields of a body that the upstream breaks off.
private let framings = ["Transfer-Encoding: chunked", "Content-Length: \(second.count)"]

/// An upstream that gives `first` whole, and then `second` up to a point where its connection ends.
private func breaksOff(_ framing: String, _ fields: String = "X-Origin: 1", pauses: Bool = true) throws
    -> Origin
{
    let calls = CallCounter()
    return try Origin { _, connection in
        let isFirst = calls.next() == 1
        guard !isFirst else {
            connection.send(json(first))
            return
        }
        let piece = Array(second.prefix(200_000))
        connection.send(wire("HTTP/1.1 200 OK", "Content-Type: application/json", framing, fields))
        connection.send(framing.contains("chunked") ? chunk(piece) : piece)
        if pauses { pauseBeyondTheHold() }
        connection.finish()
    }
}

/// Returns true if a response began with status 200 and broke off.
private func isCutOff(_ fetch: () throws -> WireMessage) throws -> Bool {
    do {
        let answer = try fetch()
        return answer.status == 200 && !answer.isWhole
    } catch WireError.noHead(.reset) {
        // A reset discards all bytes that the receiver has not read yet, even the head.
        return true
    }
}

@Suite(.timeLimit(.minutes(40))) struct BrokenBodyTests {
    @Test(arguments: framings, ["identity", "gzip", "br", "zstd", "dcz", "dcb"])
    func `a body that breaks off while it is sent aborts the client's connection`(
        framing: String, coding: String
    ) throws {
        let proxy = try TestProxy(breaksOff(framing))
        _ = try proxy.fetch("/feed")
        #expect(try isCutOff { try proxy.fetch("/feed", over: first, accept: coding) })
        #expect(try !proxy.fetch("/feed", over: Array(second.prefix(200_000))).coding.hasPrefix("dc"))
        #expect(try proxy.metrics().contains("dictum_aborted_responses_total"))
    }

    @Test(arguments: framings)
    func `a body that breaks off before anything of it has gone out is a 502`(framing: String) throws {
        let proxy = try TestProxy(breaksOff(framing, pauses: false))
        _ = try proxy.fetch("/feed")
        // On a busy machine the hold may end before the break. One of several requests must be in time.
        let answers = (0..<5).compactMap { _ in try? proxy.fetch("/feed", over: first) }
        #expect(answers.allSatisfy { $0.status == 502 || !$0.isWhole })
        let answer = try #require(answers.first { $0.status == 502 })
        #expect(answer["Content-Encoding"] == nil)
        #expect(answer["Use-As-Dictionary"] == nil)
        #expect(answer["ETag"] == nil)
    }

    @Test(arguments: framings)
    func `a passed body that breaks off aborts the connection`(framing: String) throws {
        let origin = try Origin { _, connection in
            connection.send(wire("HTTP/1.1 200 OK", "Content-Type: image/png", framing))
            connection.send(framing.contains("chunked") ? chunk(first) : Array(first.prefix(1_000)))
            // By then the head has gone out.
            pauseBeyondTheHold()
            connection.finish()
        }
        let proxy = try TestProxy(origin)
        #expect(try isCutOff { try proxy.fetch("/image") })
    }

    @Test func `an HTTP/1.0 client sees the break as a reset, since nothing else could tell`() throws {
        let proxy = try TestProxy(breaksOff(framings[0]))
        _ = try proxy.fetch("/feed")
        let client = try proxy.connect()
        client.send(wire("GET /feed HTTP/1.0", "Host: api.test"))
        #expect(try isCutOff { try client.receive() })
        #expect(client.ending == .reset)
    }

    @Test func `a coded body of the upstream that is cut short inside is not passed off as whole`() throws {
        let bytes = Array(try Codec.encode(first.span, .gzip).dropLast(100))
        let proxy = try TestProxy(json(bytes, "Content-Encoding: gzip"))
        #expect(try proxy.fetch("/feed").status == 502)
        #expect(
            try proxy.fetch("/feed", "Accept-Encoding: gzip").carries(bytes), "its own bytes pass untouched")
        #expect(try !proxy.fetch("/feed", over: first).coding.hasPrefix("dc"))
    }

    @Test(arguments: ["identity", "zstd"])
    func `a coded body that turns out to be cut short once some of it has gone out is cut off`(coding: String)
        throws
    {
        let bytes = Array(try Codec.encode(second.span, .gzip).dropLast(100))
        let origin = try Origin { _, connection in
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Encoding: gzip",
                    "Transfer-Encoding: chunked"))
            connection.send(chunk(Array(bytes.dropLast(1000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(bytes.suffix(1000))) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        #expect(try isCutOff { try proxy.fetch("/feed", "Accept-Encoding: \(coding)") })
    }

    @Test func `an upstream that stalls in mid-body ends the answer`() throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", framings[1]) + first.prefix(9_000))
            gate.wait()
        }
        let proxy = try TestProxy(origin, upstream: "idle_timeout: 2s")
        #expect(try isCutOff { try proxy.fetch("/feed") })
        gate.open()
    }

    @Test func `a client that goes away in mid-body leaves no dictionary and ends the upstream's exchange`()
        throws
    {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", framings[1])
                    + second.prefix(100_000))
            gate.wait()
            connection.send(Array(second.dropFirst(100_000)))
        }
        let proxy = try TestProxy(origin, isLogged: true)
        do {
            let client = try proxy.connect()
            client.send(request("/feed", []))
            _ = try client.receiveHead()
            client.resetOnEnd()
        }
        let line = try #require(proxy.log?.next())
        #expect(line.contains(#""complete":false"#))
        gate.open()
        #expect(try !proxy.metrics().contains("dictum_admissions_total 1"))
    }
}
