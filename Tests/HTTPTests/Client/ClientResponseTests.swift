import TestSupport
import Testing

@testable import HTTP

struct ClientResponseTests {
    /// Sends a request, responds with `answer` and perhaps the end, and returns the handler's calls.
    private func outcome(
        of answer: String, to method: String = "GET", closing: Bool = false, resetting: Bool = false
    ) throws -> [String] {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n", to: upstream.endpoint)
        var peer: WireSocket? = try upstream.accept()
        #expect(peer?.readHead().hasPrefix("\(method) / HTTP/1.1\r\n") == true)
        peer?.send(answer)
        if resetting {
            // Only after the client has read the data, which a reset would overtake.
            exchange.journal.wait { $0.contains { $0.hasPrefix("head") } }
            peer?.resetOnEnd()
            peer = nil
        } else if closing {
            peer?.closeWriting()
        }
        defer { peer = nil }
        return exchange.outcome()
    }

    @Test func `a chunked answer comes with its trailers`() throws {
        let lines = try outcome(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(lines == ["new", "head 200 chunked", "body ok", "trailers X-T: 1\r\n", "end"])
    }

    @Test func `a body without length ends with the connection`() throws {
        #expect(
            try outcome(of: "HTTP/1.1 200 OK\r\n\r\nuntil the end", closing: true)
                == ["new", "head 200 untilClose", "body until the end", "end"])
    }

    @Test(arguments: [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "head 200 none"),
        ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "head 200 none"),
        ("HEAD", "HTTP/1.1 200 OK\r\n\r\n", "head 200 none"),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", "head 204 none"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "head 304 none"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "head 200 length(0)"),
    ])
    func `an answer without body ends with its head`(method: String, answer: String, head: String) throws {
        #expect(try outcome(of: answer, to: method) == ["new", head, "end"])
    }

    @Test func `interim responses are handed on before the final one`() throws {
        #expect(
            try outcome(
                of: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
                    + "HTTP/1.1 204 No Content\r\n\r\n")
                == ["new", "interim 100", "interim 103", "head 204 none", "end"])
    }

    @Test func `as many interim responses are taken as are allowed, and one more is malformed`() throws {
        let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 32)
        let final = "HTTP/1.1 204 No Content\r\n\r\n"
        #expect(try outcome(of: interim + final).last == "end")
        #expect(try outcome(of: interim + "HTTP/1.1 100 Continue\r\n\r\n" + final).last == "failed malformed")
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\n\r\n",
    ])
    func `what is no response, or one that could be read in two ways, is malformed`(answer: String) throws {
        #expect(try outcome(of: answer) == ["new", "failed malformed"])
    }

    @Test(arguments: ["zz\r\n", "2\r\nokX", "5\nhello\r\n", "0\r\nBad Name: x\r\n\r\n"])
    func `a malformed chunk is malformed and no end`(chunk: String) throws {
        let lines = try outcome(of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)")
        #expect(lines.last == "failed malformed")
        #expect(!lines.contains("end"))
    }

    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nhell", ["head 200 length(5)", "body hell", "failed truncated"]),
        ("Content-Length: 5\r\n\r\n", ["head 200 length(5)", "failed truncated"]),
        (
            "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            ["head 200 chunked", "body hello", "failed truncated"]
        ),
        (
            "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
            ["head 200 chunked", "body hello", "failed truncated"]
        ),
    ])
    func `a body that ends too early is truncated`(rest: String, lines: [String]) throws {
        #expect(try outcome(of: "HTTP/1.1 200 OK\r\n\(rest)", closing: true) == ["new"] + lines)
        #expect(try outcome(of: "HTTP/1.1 200 OK\r\n\(rest)", resetting: true).last == "failed truncated")
    }

    @Test func `a body until the end whose connection is reset is truncated`() throws {
        #expect(try outcome(of: "HTTP/1.1 200 OK\r\n\r\nhello", resetting: true).last == "failed truncated")
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func `a connection that ends before the head is whole gives no answer`(part: String) throws {
        #expect(try outcome(of: part, closing: true).last == "failed closed")
    }

    @Test func `a switch of protocols that names none is malformed, also for a request that asked for one`()
        throws
    {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n")
        peer.closeWriting()
        #expect(exchange.outcome() == ["new", "failed malformed"])
    }
}
