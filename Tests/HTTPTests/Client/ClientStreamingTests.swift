import Glibc
import Primitives
import TestSupport
import Testing

@testable import HTTP

struct ClientStreamingTests {
    @Test func `an answer whose receiver pauses stays with the upstream until it is wanted again`() throws {
        let total = 32 << 20
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(to: upstream.endpoint) { response in
            var count = 0
            response.onBody = { response, more in
                if count == 0 { response.connection?.pauseResponse() }
                count += more
                if count == total { response.note("all \(count)") }
            }
        }
        let peer = try upstream.accept()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
        let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
        let sent = peer.flood(with: piece, limit: total, quietMilliseconds: 200)
        #expect(sent < 16 << 20)
        #expect(exchange.journal.wait { $0.count >= 2 }.count == 2)
        exchange.onLoop { $0.connection?.resumeResponse() }
        peer.send([UInt8](repeating: 0x78, count: total - sent))
        #expect(exchange.outcome().suffix(2) == ["all \(total)", "end"])
        #expect(client.counts() == [1, 0])
    }

    @Test func `an upstream that reads slowly makes the request's source wait`() throws {
        let upstream = try TestUpstream(receiveBuffer: 16 * 1024)
        let client = TestClient()
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", framing: .chunked,
            to: upstream.endpoint)
        let peer = try upstream.accept()
        exchange.onLoop { response in
            let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
            var written = 0
            while written < 32 << 20, response.connection?.canWrite == true {
                response.connection?.write(piece.span)
                written += piece.count
            }
            response.note("written \(written)")
        }
        let lines = exchange.journal.wait { $0.contains { $0.hasPrefix("written ") } }
        let line = try #require(lines.first { $0.hasPrefix("written ") })
        let written = try #require(Int(line.dropFirst(8)))
        #expect(written < 12 << 20)
        // The upstream reads: the source is told, and further pieces follow the waiting ones.
        #expect(peer.readHead().hasPrefix("POST / "))
        let chunks = written / (64 * 1024)
        #expect(peer.read(chunks * (5 + 2 + 64 * 1024 + 2)).utf8.count == chunks * 65545)
        #expect(exchange.journal.wait(for: "drained"))
        exchange.onLoop { $0.connection?.finish(trailers: Headers()) }
        #expect(peer.readHead() == "0\r\n\r\n")
        peer.send("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(exchange.outcome().suffix(2) == ["head 204 none", "end"])
    }

    @Test
    func `an answer may come whole while the request is still on its way, and then ends the connection`()
        throws
    {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", framing: .length(9),
            to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("POST / "))
        peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno")
        #expect(exchange.outcome() == ["new", "head 413 length(2)", "body no", "end"])
        exchange.onLoop { $0.connection?.write("never".utf8.span) }
        #expect(peer.readToEnd() == ("", .closed))
        #expect(client.counts() == [0, 0])
    }

    @Test func `an answer may stream while its request does`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", framing: .length(2),
            to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("POST / "))
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
        #expect(exchange.journal.wait(for: "head 200 length(2)"))
        exchange.onLoop {
            $0.connection?.write("hi".utf8.span)
            $0.connection?.finish(trailers: Headers())
        }
        #expect(peer.read(2) == "hi")
        peer.send("b")
        #expect(exchange.outcome() == ["new", "head 200 length(2)", "body ab", "end"])
        #expect(client.counts() == [1, 0])
    }

    @Test func `an answer waits longer than its time-out for the rest of a request that goes on`() throws {
        var settings = ClientSettings()
        settings.idleTimeout = 2_000
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n", framing: .length(60),
            to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("POST / "))
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
        #expect(exchange.journal.wait(for: "head 200 length(2)"))
        // Longer than the time-out, in pieces that are each well within it.
        for _ in 0..<60 {
            usleep(50_000)
            exchange.onLoop { $0.connection?.write("x".utf8.span) }
        }
        exchange.onLoop { $0.connection?.finish(trailers: Headers()) }
        #expect(peer.read(60) == String(repeating: "x", count: 60))
        peer.send("b")
        #expect(exchange.outcome() == ["new", "head 200 length(2)", "body ab", "end"])
    }

    @Test func `after a pause the upstream has as much time as before`() throws {
        let upstream = try TestUpstream()
        var settings = ClientSettings()
        settings.idleTimeout = 2_000
        let client = TestClient(settings)
        let exchange = try client.begin(to: upstream.endpoint) { response in
            response.onHead = { $0.connection?.pauseResponse() }
        }
        let peer = try upstream.accept()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        #expect(exchange.journal.wait { $0.count == 2 }.count == 2)
        #expect(peer.readHead().hasPrefix("GET / ") && peer.isQuiet(milliseconds: 2_500))
        exchange.onLoop { $0.connection?.resumeResponse() }
        #expect(peer.isQuiet(milliseconds: 50))
        peer.send("ok")
        #expect(exchange.outcome() == ["new", "head 200 length(2)", "body ok", "end"])
    }

    @Test func `a request that moves to another connection still says when there is room for more`() throws {
        let upstream = try TestUpstream()
        let client = TestClient()
        let piece = [UInt8](repeating: 0x78, count: 100_000)
        let endpoint = upstream.endpoint
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", framing: .length(100_000),
            to: endpoint
        ) { _ in
        } then: { response, pool in
            guard let former = response.connection else { return }
            former.write(piece.span)
            response.note("full \(!former.canWrite), sent \(former.hasSent)")
            let target = UpstreamTarget(scheme: .http, authority: endpoint.text, endpoint: endpoint)
            guard let next = try? pool.connection(from: pool.targetPool(for: target), fresh: true) else {
                return
            }
            next.begin(takenFrom: former, handler: response)
            former.abort()
            response.connection = next
        }
        let lines = exchange.journal.wait { $0.count == 3 }
        #expect(lines == ["new", "full true, sent false", "drained"])
    }

    @Test(arguments: ["Content-Length: 20000\r\n", ""])
    func `an answer that came before the upstream stopped reading is heard to its end`(length: String) throws
    {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n", framing: .length(1_000_000),
            to: upstream.endpoint
        ) { response in
            var count = 0
            response.onHead = { $0.connection?.pauseResponse() }
            response.onBody = { response, more in
                count += more
                if count == 20_000 { response.note("all") }
            }
        }
        do {
            let peer = try upstream.accept()
            #expect(peer.readHead().hasPrefix("POST / "))
            exchange.onLoop { $0.connection?.write([UInt8](repeating: 0x78, count: 100_000).span) }
            #expect(peer.read(10) == "xxxxxxxxxx")
            peer.send("HTTP/1.1 413 Content Too Large\r\n\(length)\r\n")
            peer.send([UInt8](repeating: 0x79, count: 20_000))
            #expect(exchange.journal.wait { $0.count == 2 }.count == 2)
            peer.resetOnEnd()
        }
        // From here on writes fail, but the upstream's earlier bytes are still there.
        for _ in 0..<3 {
            exchange.onLoop { $0.connection?.write([UInt8](repeating: 0x78, count: 50_000).span) }
        }
        #expect(exchange.journal.settled().count == 2)
        exchange.onLoop { $0.connection?.resumeResponse() }
        // Without a length the reset leaves open whether the body was complete.
        #expect(exchange.outcome().suffix(2) == ["all", length.isEmpty ? "failed truncated" : "end"])
    }

    @Test func `an answer without a length lasts longer than its time-out while it goes on`() throws {
        var settings = ClientSettings()
        settings.idleTimeout = 2_000
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchange = try client.begin(to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        // Longer than the time-out, in pieces that are each well within it.
        for _ in 0..<60 {
            usleep(50_000)
            peer.send("1\r\nx\r\n")
        }
        peer.send("0\r\n\r\n")
        #expect(exchange.outcome().suffix(2) == ["body " + String(repeating: "x", count: 60), "end"])
    }

    @Test func `a tunnel may be silent for longer than a body, and each direction has its own end`() throws {
        var settings = ClientSettings()
        settings.idleTimeout = 300
        let upstream = try TestUpstream()
        let client = TestClient(settings)
        let exchange = try client.begin(
            "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        #expect(exchange.journal.wait(for: "switched 101"))
        #expect(peer.isQuiet(milliseconds: 1_000))
        exchange.onLoop { response in
            response.connection?.write("hi".utf8.span)
            response.connection?.finish(trailers: Headers())
        }
        #expect(peer.readToEnd() == ("hi", .closed))
        peer.send("late")
        peer.closeWriting()
        #expect(exchange.outcome() == ["new", "switched 101", "body late", "end"])
    }
}
