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

    @Test func `a signal ends the program although its service manager takes no more words`() throws {
        let folder = try TemporaryFolder()
        let manager = try NotifySocket(folder.file("notify"))
        let proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 200 OK", body: body)), in: folder,
            launcher: ["/usr/bin/env", "NOTIFY_SOCKET=\(manager.name)"])
        #expect(try manager.next() == "READY=1")
        let filled = try RunningProcess.run(["-c", Self.filling, manager.name], of: "/usr/bin/python3")
        try #require(filled.status == 0, "\(filled.errors)")
        let result = try withExtendedLifetime(manager) { try proxy.process.terminate() }
        #expect(result.status == 0 && result.errors.contains("draining"), "\(result.errors)")
    }

    @Test func `a second signal ends the program although it hangs`() throws {
        let proxy = try ServedProxy(Origin(wire("HTTP/1.1 200 OK", body: body)), in: TemporaryFolder())
        // Who opens it to read waits for a writer.
        let piped = try RunningProcess.run(
            ["-c", "rm dictum.yaml && mkfifo dictum.yaml"], of: "/bin/sh", in: proxy.folder.path)
        try #require(piped.status == 0, "\(piped.errors)")
        proxy.process.signal(SIGHUP)
        _ = try proxy.process.waitFor("SIGHUP: reading")
        proxy.process.signal(SIGTERM)
        try waitUntil("the first signal is taken") { try !proxy.process.hasPending(SIGTERM) }
        proxy.process.signal(SIGTERM)
        let result = try proxy.process.result()
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("stopping took too long"), "\(result.errors)")
    }

    /// Sends words to a socket of datagrams until it takes no more; each sender has room for one at least.
    private static let filling = """
        import socket, sys
        while True:
            sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            sender.setblocking(False)
            try:
                sender.sendto(b"x", sys.argv[1])
            except BlockingIOError:
                break
        """
}
