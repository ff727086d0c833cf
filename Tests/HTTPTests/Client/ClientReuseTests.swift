import Dispatch
import Glibc
import TestSupport
import Testing

@testable import HTTP

struct ClientReuseTests {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let okLines = ["head 200 length(2)", "body ok", "end"]

    /// Returns a connection that has carried an exchange and is kept.
    func kept(_ settings: ClientSettings = ClientSettings()) throws
        -> (upstream: TestUpstream, client: TestClient, peer: WireSocket)
    {
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send(Self.ok)
        #expect(exchange.outcome().last == "end")
        return (upstream, client, peer)
    }

    @Test func `a request goes out as it is and its answer comes back`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "GET /a?b HTTP/1.1\r\nHost: x\r\nX-Y: 1\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead() == "GET /a?b HTTP/1.1\r\nHost: x\r\nX-Y: 1\r\n\r\n")
        for byte in wire(Self.ok) { peer.send([byte]) }
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(client.counts() == [1, 0])
    }

    @Test func `the next request takes the connection that was kept`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let first = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        for round in 0..<3 {
            let exchange = round == 0 ? first : try client.begin(to: upstream.endpoint)
            #expect(peer.readHead().hasPrefix("GET / HTTP/1.1\r\n"))
            #expect(client.counts() == [0, 1])
            peer.send(Self.ok)
            #expect(exchange.outcome() == [round == 0 ? "new" : "reused"] + Self.okLines)
        }
    }

    @Test func `a request that asks for a fresh connection gets one`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        for _ in 0..<2 {
            let exchange = try client.begin(to: upstream.endpoint, fresh: true)
            let peer = try upstream.accept()
            peer.send(Self.ok)
            #expect(exchange.outcome() == ["new"] + Self.okLines)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokSURPLUS",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    func `a connection that does not persist, or has bytes left over, is closed behind its answer`(
        answer: String
    ) throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send(answer)
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(peer.readToEnd() == ("", .closed))
        #expect(client.counts() == [0, 0])
    }

    @Test func `a connection whose request was to be the last is not kept, whatever the answer says`() throws
    {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(peer.readToEnd() == ("", .closed))
        #expect(client.counts() == [0, 0])
    }

    @Test func `what an early answer has left of its request goes before no other one`() throws {
        let upstream = try TestUpstream(receiveBuffer: 16 * 1024)
        let client = TestClient()
        let size = 16 << 20
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n", framing: .length(UInt64(size)),
            to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("POST / "))
        exchange.onLoop { response in
            response.connection?.write([UInt8](repeating: 0x78, count: size).span)
            response.connection?.finish(trailers: Headers())
            response.note("written")
        }
        #expect(exchange.journal.wait(for: "written"))
        peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        #expect(exchange.outcome() == ["new", "written", "head 413 length(0)", "end"])
        try #require(client.counts() == [0, 0])
        let next = try client.begin(to: upstream.endpoint)
        let fresh = try upstream.accept()
        #expect(fresh.readHead() == "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        fresh.send(Self.ok)
        #expect(next.outcome() == ["new"] + Self.okLines)
        let cut = peer.countToEnd()
        #expect(cut.count < size)
    }

    @Test func `an upstream of HTTP 1.0 that keeps alive is used again`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        peer.send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
        #expect(exchange.outcome().last == "end")
        #expect(client.counts() == [1, 0])
    }

    @Test func `bytes on an idle connection close it, and are no answer to the next request`() throws {
        let (upstream, client, peer) = try kept()
        peer.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        #expect(peer.readToEnd().ending != .timedOut)
        #expect(client.counts() == [0, 0])
        let next = try client.begin(to: upstream.endpoint)
        let fresh = try upstream.accept()
        fresh.send(Self.ok)
        #expect(next.outcome() == ["new"] + Self.okLines)
    }

    @Test func `bytes that were there before the next request had gone are no answer to it`() throws {
        let (lines, _) = try reuse(framing: .length(1)) { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
        }
        #expect(lines == ["reused", "failed stale"])
    }

    @Test func `a request that says it is the last one is`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().contains("Connection: close\r\n"))
        peer.send(Self.ok)
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(peer.readToEnd() == ("", .closed))
    }

    /// Begins a second request on a kept connection in the same batch of events that reports the effect of `happens`.
    private func reuse(
        framing: BodyFraming = .none, _ write: @escaping @Sendable (TestResponse) -> Void = { _ in },
        happens: (WireSocket) -> Void
    ) throws -> (lines: [String], sent: String) {
        let (upstream, client, peer) = try kept()
        // The loop waits until both have come, the request before the bytes.
        let (halted, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        client.withPool { _, _ in
            halted.signal()
            gate.wait()
        }
        halted.wait()
        var head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        if case .length(let count) = framing {
            head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
        }
        let next = try client.begin(head, framing: framing, to: upstream.endpoint)
        next.onLoop(write)
        happens(peer)
        gate.signal()
        let lines = next.outcome()
        #expect(client.counts() == [0, 0])
        return (lines, peer.readToEnd().0)
    }

    @Test func `bytes that come in the batch in which a kept connection is taken are no answer`() throws {
        let (lines, sent) = try reuse { $0.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") }
        #expect(lines == ["reused", "failed stale"])
        #expect(sent == "")
    }

    @Test func `an end that comes in the batch in which a kept connection is taken lets nothing out`() throws
    {
        let (lines, sent) = try reuse { $0.closeWriting() }
        #expect(lines == ["reused", "failed stale"])
        #expect(sent == "")
    }

    @Test(arguments: ["POST", "PUT", "QUERY"])
    func `an end that comes behind the events of a batch lets nothing out that cannot be sent again`(
        method: String
    ) throws {
        let (upstream, client, peer) = try kept()
        let (halted, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let next = try client.begin(
            "\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", framing: .length(1),
            to: upstream.endpoint
        ) { _ in
            halted.signal()
            gate.wait()
        }
        halted.wait()
        peer.closeWriting()
        gate.signal()
        #expect(next.outcome() == ["reused", "failed stale"])
        #expect(peer.readToEnd().0 == "")
    }

    @Test func `a connection that was paused at its answer's end still sees its own`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint) { response in
            response.onBody = { response, _ in response.connection?.pauseResponse() }
        }
        let peer = try upstream.accept()
        peer.send(Self.ok)
        #expect(exchange.outcome().last == "end")
        peer.closeWriting()
        #expect(peer.readToEnd().ending == .closed)
        #expect(client.counts() == [0, 0])
    }

    @Test func `a connection with former settings serves its request and no other`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        client.withPool { pool, _ in pool.adopt(ClientSettings()) }
        #expect(client.counts() == [0, 1])
        peer.send(Self.ok)
        #expect(exchange.outcome() == ["new"] + Self.okLines)
        #expect(client.counts() == [0, 0])
        #expect(peer.readToEnd() == ("", .closed))
    }

    @Test func `a large piece of a body does not go out before what lies there has been seen`() throws {
        let (lines, sent) = try reuse(
            framing: .length(20_000),
            { response in
                let piece = [UInt8](repeating: 7, count: 20_000)
                response.connection?.write(piece.span)
                response.connection?.finish(trailers: Headers())
            }, happens: { $0.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") })
        #expect(lines == ["reused", "failed stale"])
        #expect(sent == "")
    }

    @Test func `a kept connection that the upstream closes goes`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        do {
            let exchange = try client.begin(to: upstream.endpoint)
            let peer = try upstream.accept()
            peer.send(Self.ok)
            #expect(exchange.outcome().last == "end")
            peer.closeWriting()
            #expect(peer.readToEnd().ending == .closed)
        }
        #expect(client.counts() == [0, 0])
    }

    @Test func `a kept connection that turns out closed is reported as stale`() throws {
        let (upstream, client, peer) = try kept()
        let next = try client.begin(to: upstream.endpoint)
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.closeWriting()
        #expect(next.outcome() == ["reused", "failed stale"])
        #expect(client.counts() == [0, 0])
    }

    @Test func `a request that takes a kept connection in the turn in which its time ends is no failure`()
        throws
    {
        var settings = ClientSettings()
        settings.keepAliveTimeout = 2_000
        settings.idleTimeout = 60_000
        let (upstream, client, peer) = try kept(settings)
        // The time ends in one turn, and the next begins with the request.
        let (halted, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        client.withPool { _, _ in
            halted.signal()
            gate.wait()
        }
        halted.wait()
        let next = try client.begin(to: upstream.endpoint, atEndOfTurn: true)
        usleep(2_200_000)
        gate.signal()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send(Self.ok)
        #expect(next.outcome() == ["reused"] + Self.okLines)
    }
}
