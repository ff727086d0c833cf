internal import Dispatch
internal import Glibc
internal import TestSupport
import Testing

@testable import HTTP

struct ClientFailureTests {
    private func settings(_ change: (inout ClientSettings) -> Void) -> ClientSettings {
        var settings = ClientSettings()
        change(&settings)
        return settings
    }

    @Test func `a refused connection is a failure to connect`() throws {
        let endpoint = try TestUpstream().endpoint
        let client = TestClient()
        let exchange = try client.begin(to: endpoint)
        #expect(exchange.outcome() == ["new", "failed connect"])
        #expect(client.counts() == [0, 0])
    }

    @Test func `a unix socket that is not there cannot be connected to`() throws {
        let client = TestClient()
        let exchange = try client.begin(to: .unix(path: "no/such/socket"))
        #expect(exchange.outcome() == ["cannot connect"])
        #expect(client.counts() == [0, 0])
    }

    @Test func `a unix socket that has no room for connections is waited for, as long as one may`() throws {
        let folder = try TemporaryFolder()
        let endpoint = Endpoint.unix(path: folder.file("s"))
        // Room for one connection that is not accepted yet.
        var listener: WireListener? = try WireListener(path: folder.file("s"), backlog: 0)
        let patient = TestClient()
        let two = try (0..<2).map { _ in
            let exchange = try patient.begin(to: endpoint)
            #expect(exchange.journal.wait(for: "new"))
            return exchange
        }
        let hasty = TestClient(settings { $0.connectTimeout = 150 })
        #expect(try hasty.begin(to: endpoint).outcome() == ["new", "failed connect-timeout"])
        #expect(hasty.counts() == [0, 0])
        let peers = try two.map { _ in
            let peer = try listener?.accept()
            #expect(peer?.readHead() == "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            peer?.send("HTTP/1.1 204 No Content\r\n\r\n")
            return peer
        }
        for exchange in two { #expect(exchange.outcome() == ["new", "head 204 none", "end"]) }
        #expect(patient.counts() == [2, 0])
        let lost = try (0..<2).map { _ in try patient.begin(to: endpoint, fresh: true) }
        for exchange in lost { #expect(exchange.journal.wait(for: "new")) }
        listener = nil
        // The other one may have had the place.
        let endings = lost.map { $0.outcome().last }
        #expect(endings.contains("failed connect"))
        withExtendedLifetime(peers) {}
    }

    @Test func `a connection that is not made in time is a failure of its own`() throws {
        // A full backlog leaves further connections unanswered.
        let upstream = try TestUpstream(backlog: 0)
        let waiting = try (0..<2).map { _ in try WireSocket(to: upstream.endpoint, isAwaited: false) }
        let client = TestClient(settings { $0.connectTimeout = 150 })
        let exchange = try client.begin(to: upstream.endpoint)
        #expect(exchange.outcome() == ["new", "failed connect-timeout"])
        #expect(client.counts() == [0, 0])
        withExtendedLifetime(waiting) {}
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
    func `a head that does not come whole in time is a timeout`(part: String) throws {
        let upstream = try TestUpstream()
        let client = TestClient(settings { $0.responseTimeout = 150 })
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        // Read first: bytes to a connection that has been given up would bring a reset.
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send(part)
        #expect(exchange.outcome().last == "failed response-timeout")
        #expect(peer.readToEnd().ending != .timedOut)
    }

    @Test func `a body on which nothing comes for too long is a timeout`() throws {
        let upstream = try TestUpstream()
        let client = TestClient(settings { $0.idleTimeout = 150 })
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
        #expect(exchange.outcome() == ["new", "head 200 length(9)", "body part", "failed idle-timeout"])
    }

    @Test func `a body of known length that drips is a timeout, though it is never silent for long`() throws {
        var settings = ClientSettings()
        settings.idleTimeout = 300
        settings.bodyRate = 1000
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        var sent = 0
        while sent < 1000, peer.isQuiet(milliseconds: 20) {
            peer.send("x")
            sent += 1
        }
        #expect(exchange.outcome().last == "failed idle-timeout")
    }

    @Test func `an upstream that takes nothing of a request for too long is a timeout`() throws {
        let upstream = try TestUpstream(receiveBuffer: 16 * 1024)
        let client = TestClient(settings { $0.idleTimeout = 200 })
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 33554432\r\n\r\n", framing: .length(32 << 20),
            to: upstream.endpoint)
        let peer = try upstream.accept()
        exchange.onLoop { $0.connection?.write([UInt8](repeating: 0x78, count: 32 << 20).span) }
        #expect(exchange.outcome() == ["new", "failed idle-timeout"])
        withExtendedLifetime(peer) {}
    }

    @Test func `an upstream that takes a request slowly but steadily gets it whole`() throws {
        let limits = settings {
            $0.idleTimeout = 2_000
            $0.responseTimeout = 2_000
        }
        // The system reports room only after a third of its buffer is free: more than a megabyte.
        #expect(
            try ends(of: 12 << 20, slowFor: 1 << 20, pausing: 40_000, limits) == ["head 204 none", "end"])
    }

    @Test func `an upstream that takes a request slowly may respond late, though the system has all of it`()
        throws
    {
        // So much fits into the system's buffers that the connection waits for the head alone: twice as long as the time-out.
        let limits = settings { $0.responseTimeout = 2_000 }
        #expect(
            try ends(of: 1 << 20, slowFor: 1 << 19, pausing: 60_000, limits) == ["head 204 none", "end"])
    }

    /// Sends a request of so many bytes to an upstream that takes the first of them in pieces of 8 KiB, with pauses between
    /// them in microseconds; returns the last two events.
    private func ends(
        of size: Int, slowFor slowBytes: Int, pausing pause: UInt32, _ settings: ClientSettings
    ) throws -> [String] {
        let upstream = try TestUpstream(receiveBuffer: 16 * 1024)
        let client = TestClient(settings)
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n",
            framing: .length(UInt64(size)), to: upstream.endpoint)
        let peer = try upstream.accept()
        exchange.onLoop { response in
            response.connection?.write([UInt8](repeating: 0x78, count: size).span)
            response.connection?.finish(trailers: Headers())
        }
        #expect(peer.readHead().hasPrefix("POST / "))
        var read = 0
        while read < slowBytes, case let count = peer.read(8 * 1024).utf8.count, count > 0 {
            read += count
            usleep(pause)
        }
        #expect(peer.read(size - read).utf8.count == size - read)
        peer.send("HTTP/1.1 204 No Content\r\n\r\n")
        return Array(exchange.outcome().suffix(2))
    }

    @Test func `a request whose own body is slow has time`() throws {
        let upstream = try TestUpstream()
        let client = TestClient(
            settings {
                $0.idleTimeout = 2_000
                $0.responseTimeout = 2_000
            })
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", framing: .chunked,
            to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("POST / "))
        // Beyond both; the response below has as much time.
        #expect(peer.isQuiet(milliseconds: 2_500))
        exchange.onLoop {
            $0.connection?.write("late".utf8.span)
            var trailers = Headers()
            trailers.append(.etag, "1")
            $0.connection?.finish(trailers: trailers)
        }
        #expect(peer.readHead() == "4\r\nlate\r\n0\r\nETag: 1\r\n\r\n")
        peer.send("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(exchange.outcome() == ["new", "head 204 none", "end"])
    }

    @Test func `a request that is given up is reset and its handler hears no more`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        exchange.onLoop { $0.connection?.abort() }
        #expect(peer.readToEnd() == ("", .reset))
        #expect(client.counts() == [0, 0])
        #expect(exchange.journal.all == ["new"])
    }

    @Test func `a request may be given up from within its answer`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let onHead = try client.begin(to: upstream.endpoint) { $0.onHead = { $0.connection?.abort() } }
        let first = try upstream.accept()
        first.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let onBody = try client.begin(to: upstream.endpoint) { response in
            response.onBody = { response, _ in response.connection?.abort() }
        }
        let second = try upstream.accept()
        second.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
        #expect(onHead.journal.wait { $0.count == 2 } == ["new", "head 200 length(2)"])
        #expect(onBody.journal.wait { $0.count == 2 } == ["new", "head 200 chunked"])
        #expect(first.readHead().hasPrefix("GET / "))
        #expect(first.readToEnd().ending == .reset)
        #expect(second.readHead().hasPrefix("GET / "))
        #expect(second.readToEnd().ending == .reset)
        #expect(client.counts() == [0, 0])
    }
}
