internal import Dictionaries
internal import Glibc
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// RFC 9112 sections 6.3 and 8: an upstream's fault causes a 502 or a closed connection, and never becomes the next
/// client's response.
@Suite(.timeLimit(.minutes(40))) struct UpstreamFaultTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    private static let intruder = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nINTRUDER"

    /// Heads that are invalid or ambiguous.
    private static let badHeads = [
        "garbage\r\n\r\n", "\r\n" + intruder, "\n" + intruder, "xHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n", "HTTP/0.9 200 OK\r\n\r\n", "HTTP/1 200 OK\r\n\r\n",
        "HTTP/1.10 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 1000 High\r\n\r\n", "HTTP/1.1 600 High\r\n\r\n", "HTTP/1.1 2x0 No\r\n\r\n",
        "HTTP/1.1 -20 No\r\n\r\n", "HTTP/1.1 20 No\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1\t200 OK\r\n\r\n",
        "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 200 O\u{0}K\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\r\nA: b\n\r\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\u{0}c\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\u{1}\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA\u{0}: b\r\n\r\n",
        head + "Content-Length: -1\r\n\r\n", head + "Content-Length: +2\r\n\r\nok",
        head + "Content-Length: 2x\r\n\r\nok", head + "Content-Length: \r\n\r\n",
        head + "Content-Length: 2, 2\r\n\r\nok", head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        head + "Content-Length: 99999999999999999999\r\n\r\nok", head + "Content-Length: 0x2\r\n\r\nok",
        head + "Content_Length: 2\r\n\r\nok",
        head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        head + "Transfer-Encoding: gzip\r\n\r\nok",
        head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        head + "Transfer-Encoding: identity\r\n\r\nok",
        head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", head + "Transfer-Encoding: \r\n\r\nok",
        head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        head + "Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n" + intruder,
        head + "X: " + String(repeating: "a", count: 70_000) + "\r\n\r\n",
        head + String(repeating: "X: a\r\n", count: 1_100) + "\r\n",
        String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 100) + intruder,
        "HTTP/1.1 100 Continue\r\n\r\ngarbage\r\n\r\n", "", "H", "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\n",
        head + "Content-Length: 20\r\n\r\nshort", head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
        head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n5;" + String(repeating: "a", count: 5000)
            + "\r\nhello\r\n0\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nBad Name: x\r\n\r\n",
    ]

    /// Returns an upstream that sends those bytes for `/bad`, and valid responses for all other targets.
    private func origin(_ bytes: String) throws -> Origin {
        try Origin { request, connection in
            guard request.target == "/bad" else {
                connection.send(wire("HTTP/1.1 200 OK", body: Array("good \(request.target)".utf8)))
                return
            }
            connection.send(bytes)
            connection.closeWriting()
        }
    }

    @Test(arguments: badHeads)
    func `what is no answer is a 502, nothing of it gets through, and the next request gets its own`(
        bytes: String
    ) throws {
        let proxy = try TestProxy(origin(bytes))
        #expect(try proxy.fetch("/warm").text == "good /warm")
        let client = try proxy.connect()
        client.send(request("/bad", []))
        let answer = try client.receiveFinal()
        #expect(answer.status == 502)
        #expect(!answer.text.contains("INTRUDER") && !answer.text.contains("hello"))
        client.send(request("/next", []))
        #expect(try client.receive().text == "good /next", "the client's connection is none the worse")
        #expect(try proxy.fetch("/other").text == "good /other")
    }

    /// Bodies with invalid framing, which is detected before any byte of the response is sent.
    private static let badBodies = [
        "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nBad Name: x\r\n\r\n",
    ]

    @Test(
        arguments: badBodies,
        [
            "", "Content-Type: image/png\r\n", "Content-Type: text/event-stream\r\n",
            "Content-Encoding: foo\r\n",
        ])
    func `a body that is none is a 502, also where it would have gone on piece by piece`(
        bytes: String, fields: String
    ) throws {
        let proxy = try TestProxy(origin("HTTP/1.1 200 OK\r\n" + fields + bytes))
        let client = try proxy.connect()
        client.send(request("/bad", []))
        let answer = try client.receiveFinal()
        #expect(answer.status == 502)
        #expect(answer["Content-Encoding"] == nil && !answer.text.contains("hello"))
        client.send(request("/next", []))
        #expect(try client.receive().text == "good /next", "the client's connection is none the worse")
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nContent-Length: 8\r\n\r\nINTRUDER",
            "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 8\r\n\r\nINTRUDER",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ], [true, false])
    func `what an upstream sends behind an answer is nobody's answer`(answer: String, isAtOnce: Bool) throws {
        let intruded = Gate()
        let origin = try Origin { request, connection in
            guard request.target == "/bad" else {
                connection.send(wire("HTTP/1.1 200 OK", body: Array("good \(request.target)".utf8)))
                return
            }
            connection.send(isAtOnce ? answer + Self.intruder : answer)
            guard !isAtOnce else { return }
            pauseBeyondTheHold()
            connection.send(Self.intruder)
            intruded.open()
        }
        let proxy = try TestProxy(origin)
        let client = try proxy.connect()
        client.send(request("/bad", []))
        let received = try client.receive()
        #expect([200, 204, 304].contains(received.status))
        #expect(received.isWhole && !received.text.contains("INTRUDER"))
        if received.status != 200 { #expect(received["Content-Length"] == nil) }
        if !isAtOnce {
            intruded.wait()
            pauseBeyondTheHold()
        }
        for place in ["/a", "/b", "/c"] {
            client.send(request(place, []))
            #expect(try client.receive().text == "good \(place)")
        }
    }

    @Test func `the body behind the answer to a HEAD is nobody's answer`() throws {
        let origin = try Origin { request, connection in
            let body = request.method == "HEAD" ? Self.intruder : "good"
            connection.send(wire("HTTP/1.1 200 OK", body: Array(body.utf8)))
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/x", method: "HEAD").status == 200)
        #expect(try proxy.fetch("/y").text == "good")
    }

    @Test func `an interim response has no length, whatever it says`() throws {
        let proxy = try TestProxy(
            Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\nKeep-Alive: 1\r\n\r\n".utf8)
                + wire("HTTP/1.1 200 OK", body: Array("ok".utf8)))
        let client = try proxy.connect()
        client.send(request("/", []))
        let interim = try client.receiveHead()
        #expect(interim.status == 103)
        #expect(interim.fields.map(\.name) == ["Link"])
        #expect(try client.receive().text == "ok")
    }

    @Test func `a request that has a body though its method needs none is the last on its connection`() throws
    {
        let connections = Guarded<Set<ObjectIdentifier>>([])
        let origin = try Origin { request, connection in
            connections.withLock { _ = $0.insert(ObjectIdentifier(connection)) }
            // It responds to the head, and reads the body as the next request.
            connection.send(wire("HTTP/1.1 200 OK", body: Array("good".utf8)))
            if !request.body.isEmpty { connection.send(Self.intruder) }
        }
        let proxy = try TestProxy(origin)
        let body = Array("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        for _ in 0..<3 {
            #expect(try proxy.fetch("/", body: body).text == "good")
            #expect(try proxy.fetch("/next").text == "good")
        }
        #expect(proxy.origin.requests.filter { !$0.body.isEmpty }.allSatisfy { $0["Connection"] == "close" })
    }
}

extension WireSocket {
    /// The next final response, whatever interim ones come before it.
    fileprivate func receiveFinal() throws -> WireMessage {
        var message = try receive()
        while 100...199 ~= message.status { message = try receive() }
        return message
    }
}
