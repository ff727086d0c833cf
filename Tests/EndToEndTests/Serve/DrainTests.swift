internal import Glibc
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 0, items: 850)

@Suite(.timeLimit(.minutes(40))) struct DrainTests {
    @Test(arguments: [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")])
    func `a request under way ends whole, then the program ends with 0`(signal: Int32, name: String) throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(body.count)")
                    + body.prefix(1_000))
            gate.wait()
            connection.send(Array(body.dropFirst(1_000)))
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        client.send(wire("GET /feed HTTP/1.1", "Host: api.test"))
        var answer = try client.receiveHead()
        let idle = try WireSocket(port: proxy.port)
        proxy.process.signal(signal)
        #expect(try proxy.process.waitFor("draining").contains(name))
        #expect(idle.receiveAll().isEmpty, "a client that asks for nothing is let go")
        gate.open()
        while answer.body.count < body.count, let piece = client.receivePiece(of: answer), !piece.isEmpty {
            answer.body += piece
        }
        #expect(answer.body.count == body.count)
        let result = try proxy.process.result()
        #expect(result.status == 0)
        #expect(result.text.split(separator: "\n").count == 1, "one line in the access log")
    }

    @Test(arguments: [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")])
    func `a second signal ends the program at once, whatever is under way`(signal: Int32, name: String) throws
    {
        let gate = Gate()
        defer { gate.open() }
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(body.count)")
                    + body.prefix(1_000))
            gate.wait()
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        client.send(wire("GET /feed HTTP/1.1", "Host: api.test"))
        _ = try client.receiveHead()
        proxy.process.signal(signal)
        _ = try proxy.process.waitFor("draining")
        proxy.process.signal(signal)
        let result = try proxy.process.result()
        #expect(result.status == 0 && result.errors.contains("\(name) again: stopping at once"))
    }
}
