internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 0, items: 40)

private func origin() throws -> Origin {
    try Origin(
        wire(
            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
            body: body))
}

extension RunningProcess {
    /// The number of the `count`th process that has taken over.
    fileprivate func awaitSuccessor(_ count: Int = 1) throws -> pid_t {
        var pid: pid_t?
        try waitUntil("process \(count) accepts") {
            let lines = try waitFor("has taken over").matches(of: /process ([0-9]+) has taken over/)
            pid = lines.count >= count ? pid_t(lines[count - 1].output.1) : nil
            return pid != nil
        }
        return try #require(pid)
    }
}

/// Ends a process that is no child of the test.
private func end(_ pid: pid_t) throws {
    kill(pid, SIGTERM)
    try waitUntil("process \(pid) has ended") { kill(pid, 0) != 0 && errno == ESRCH }
}

/// A new program in the place of the one that runs: SIGUSR2.
@Suite(.timeLimit(.minutes(40))) struct HandOverTests {
    @Test func `ten successors under load, and no request fails, on kept connections neither`() async throws {
        try await onOwnThread {
            let proxy = try ServedProxy(origin(), in: TemporaryFolder())
            let clients = LoadClients(port: proxy.port, expecting: body, kept: 8, fresh: 4)
            var pid = proxy.process.pid
            for count in 1...10 {
                try clients.awaitAnswers(200)
                // All processes but the first write on to the files of the first.
                kill(pid, SIGUSR2)
                pid = try proxy.process.awaitSuccessor(count)
            }
            try clients.awaitAnswers(200)
            let failures = clients.stop()
            let first = try proxy.process.result()
            try end(pid)
            try #require(failures == [])
            try #require(first.status == 0)
        }
    }

    @Test func `both processes write whole lines into the file of the access log`() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/access.log"
        let proxy = try ServedProxy(origin(), in: folder, log: "format: json, access: {file: \"\(file)\"}")
        let clients = LoadClients(port: proxy.port, expecting: body, kept: 4, fresh: 2)
        try clients.awaitAnswers(100)
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        try clients.awaitAnswers(100)
        #expect(clients.stop() == [])
        #expect(try proxy.process.result().status == 0)
        try end(pid)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == clients.answerCount)
        #expect(lines.allSatisfy { $0.hasPrefix("{\"time\"") && $0.hasSuffix("\"complete\":true}") })
    }

    @Test func `who has connected and asks only after the hand-over is answered, and told to close`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        // The connection has been accepted, since later ones have been.
        #expect(try WireSocket(port: proxy.port).get("/feed").status == 200)
        #expect(try WireSocket(port: proxy.port).get("/feed").status == 200)
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        let answer = try client.get("/feed")
        #expect(answer.body == body && answer.isWhole)
        #expect(try proxy.process.result().status == 0)
        #expect(try WireSocket(port: proxy.port).get("/feed").body == body)
        try end(pid)
    }

    @Test func `a request under way ends whole in the process that has it`() throws {
        let gate = Gate()
        let slow = try Origin { _, connection in
            connection.send(wire("HTTP/1.1 200 OK", "Content-Length: \(body.count)") + body.prefix(100))
            gate.wait()
            connection.send(Array(body.dropFirst(100)))
        }
        let proxy = try ServedProxy(slow, in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        client.send("GET /feed HTTP/1.1\r\nHost: api.test\r\n\r\n")
        var answer = try client.receiveHead()
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        gate.open()
        while answer.body.count < body.count, let piece = client.receivePiece(of: answer), !piece.isEmpty {
            answer.body += piece
        }
        #expect(answer.body == body)
        #expect(try proxy.process.result().status == 0)
        try end(pid)
    }

    @Test func `a successor that cannot start leaves all as it is, and the next may`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        let right = try #require(proxy.folder.read("dictum.yaml"))
        try proxy.folder.write(Array("upstrem: {}".utf8), to: "dictum.yaml")
        proxy.process.signal(SIGUSR2)
        #expect(try proxy.process.waitFor("this process continues").contains("exit code 78"))
        #expect(try proxy.curl("/feed").carries(body))
        try proxy.folder.write(right, to: "dictum.yaml")
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        #expect(try proxy.process.result().status == 0)
        #expect(try proxy.curl("/feed").carries(body))
        try end(pid)
    }

    @Test func `a successor that hangs or is killed before it is ready is no loss`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        let right = try #require(proxy.folder.read("dictum.yaml"))
        let file = "\(proxy.folder.path)/dictum.yaml"
        try FileManager.default.removeItem(atPath: file)
        // The pipe has no writer, so opening it never returns.
        try #require(RunningProcess.run([file], of: "/usr/bin/mkfifo").status == 0)
        proxy.process.signal(SIGUSR2)
        let match = try proxy.process.waitFor("started the successor, process")
            .firstMatch(of: /successor, process ([0-9]+)/)
        let pid = try #require(match.flatMap { pid_t($0.output.1) })
        kill(pid, SIGKILL)
        #expect(try proxy.process.waitFor("this process continues").contains("killed by signal 9"))
        try FileManager.default.removeItem(atPath: file)
        try proxy.folder.write(right, to: "dictum.yaml")
        #expect(try proxy.curl("/feed").carries(body))
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `while a successor starts, no other one is started`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        let file = "\(proxy.folder.path)/dictum.yaml"
        try FileManager.default.removeItem(atPath: file)
        // The pipe has no writer, so opening it never returns.
        try #require(RunningProcess.run([file], of: "/usr/bin/mkfifo").status == 0)
        proxy.process.signal(SIGUSR2)
        _ = try proxy.process.waitFor("started the successor, process")
        proxy.process.signal(SIGUSR2)
        var log = ""
        try waitUntil("the second signal is taken") {
            log = try proxy.process.waitFor("SIGUSR2")
            return log.matches(of: /SIGUSR2/).count == 2
        }
        #expect(log.contains("SIGUSR2 again: the successor is still starting"), "\(log)")
        let pids = log.matches(of: /successor, process ([0-9]+)/).compactMap { pid_t($0.output.1) }
        #expect(pids.count == 1, "\(log)")
        for pid in pids { kill(pid, SIGKILL) }
        _ = try proxy.process.waitFor("this process continues")
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `after a hand-over the first signal to end cuts no request off, and the second does`() throws {
        let gate = Gate()
        defer { gate.open() }
        let slow = try Origin { _, connection in
            connection.send(wire("HTTP/1.1 200 OK", "Content-Length: \(body.count)") + body.prefix(100))
            gate.wait()
        }
        let proxy = try ServedProxy(slow, in: TemporaryFolder())
        let client = try WireSocket(port: proxy.port)
        client.send("GET /feed HTTP/1.1\r\nHost: api.test\r\n\r\n")
        _ = try client.receiveHead()
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        proxy.process.signal(SIGTERM)
        // Of two signals that wait, the one with the lower number is taken first.
        try waitUntil("the first signal is taken") { try !proxy.process.hasPending(SIGTERM) }
        proxy.process.signal(SIGINT)
        let result = try proxy.process.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("SIGINT again: stopping at once"), "\(result.errors)")
        #expect(!result.errors.contains("SIGTERM again"), "\(result.errors)")
        try end(pid)
    }

    @Test func `a successor that closes its pipe without a report, and lives on, is ended`() throws {
        let folder = try TemporaryFolder()
        let program = "\(folder.path)/program"
        let script = """
            #!/bin/sh
            eval "exec ${DICTUM_SUCCEEDS#*:}>&-"
            exec sleep 310

            """
        try folder.write(Array(script.utf8), to: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        // The name by which a program was called is that of its successor.
        let proxy = try ServedProxy(
            origin(), in: folder, launcher: ["/bin/bash", "-c", #"exec -a "$0" "$@""#, program])
        proxy.process.signal(SIGUSR2)
        #expect(try proxy.process.waitFor("this process continues").contains("and did not end"))
        #expect(try proxy.curl("/feed").carries(body))
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `the admin listener goes over too, and with the last process all is closed`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        #expect(try proxy.process.result().status == 0)
        #expect(try proxy.metric("dictum_build_info") == 1)
        // The kernel's table can miss a row while others come and go.
        try waitUntil("the port is in the table") { try listeningPorts(of: pid).contains(proxy.port) }
        try end(pid)
    }

    @Test func `a listener that the new configuration does not have is closed`() throws {
        let proxy = try ServedProxy(origin(), in: TemporaryFolder())
        try waitUntil("the port is in the table") {
            try listeningPorts(of: proxy.process.pid).contains(proxy.port)
        }
        let file = String(decoding: proxy.folder.read("dictum.yaml") ?? [], as: UTF8.self)
        let path = "\(proxy.folder.path)/other.sock"
        let changed = file.replacing("address: \"127.0.0.1:0\"", with: "address: \"unix:\(path)\"")
        try #require(changed != file)
        try proxy.folder.write(Array(changed.utf8), to: "dictum.yaml")
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        #expect(try proxy.process.result().status == 0)
        #expect(try !listeningPorts(of: pid).contains(proxy.port))
        #expect(try proxy.curl("/feed", "--unix-socket", path).carries(body))
        try end(pid)
    }

    @Test func `listeners may move to another address on the same port`() throws {
        let free = try origin()
        let admin = free.port
        free.stop()
        let proxy = try ServedProxy(
            origin(), in: TemporaryFolder(), admin: "{address: \"127.0.0.1:\(admin)\"}")
        let file = String(decoding: proxy.folder.read("dictum.yaml") ?? [], as: UTF8.self)
        let changed = file.replacing("127.0.0.1:0\"", with: "0.0.0.0:\(proxy.port)\"")
            .replacing("127.0.0.1:\(admin)", with: "0.0.0.0:\(admin)")
        try #require(changed.matches(of: /0\.0\.0\.0:/).count == 2)
        try proxy.folder.write(Array(changed.utf8), to: "dictum.yaml")
        proxy.process.signal(SIGUSR2)
        let pid = try proxy.process.awaitSuccessor()
        #expect(try proxy.process.result().status == 0)
        #expect(try proxy.curl("/feed").carries(body))
        let ready = try RunningProcess.run(
            ["curl", "-sS", "-f", "--max-time", "300", "http://127.0.0.1:\(admin)/readyz"], of: "/usr/bin/env"
        )
        #expect(ready.status == 0, "\(ready.errors)")
        try end(pid)
    }
}
