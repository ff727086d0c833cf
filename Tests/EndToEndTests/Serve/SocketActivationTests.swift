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

extension WireListener {
    /// The command that becomes the program behind it, with these descriptors from 3 on as sd_listen_fds(3) says.
    fileprivate static func launcher(
        _ descriptors: [Int32], pid: String = "$$", count: Int? = nil, names: String = ""
    ) -> [String] {
        // By way of numbers that none of them has, so that none is overwritten before it is moved.
        let away = descriptors.enumerated().map { "exec \(200 + $0)<&\($1);" }
        let back = descriptors.indices.map { "exec \(3 + $0)<&\(200 + $0) \(200 + $0)<&-;" }
        let script = """
            \((away + back).joined(separator: " ")) export LISTEN_PID=\(pid) LISTEN_FDS=\(count ?? descriptors.count) \
            LISTEN_FDNAMES=\(names); exec "$@"
            """
        return ["/bin/bash", "-c", script, "launcher"]
    }
}

/// Tests sockets from a service manager, sd_listen_fds(3), and notifications to it, sd_notify(3).
@Suite(.timeLimit(.minutes(40))) struct SocketActivationTests {
    @Test func `the socket that is passed is the one that is listened at`() throws {
        let socket = try WireListener(backlog: 4096, isInherited: true)
        let proxy = try ServedProxy(
            origin(), in: TemporaryFolder(), launcher: WireListener.launcher([socket.descriptor]))
        #expect(proxy.port == socket.port)
        #expect(try proxy.curl("/feed").carries(body))
        #expect(try proxy.process.terminate().status == 0)
        // The socket stays open in the service manager.
        _ = try WireSocket(port: socket.port)
    }

    @Test func `three restarts under load, and no request fails`() async throws {
        try await onOwnThread {
            let (socket, origin, folder) = (
                try WireListener(backlog: 4096, isInherited: true), try origin(), try TemporaryFolder()
            )
            let launcher = WireListener.launcher([socket.descriptor])
            var proxy = try ServedProxy(origin, in: folder, launcher: launcher)
            let clients = LoadClients(port: socket.port, expecting: body, kept: 4, fresh: 4)
            for _ in 0..<3 {
                try clients.awaitAnswers(200)
                try #require(proxy.process.terminate().status == 0)
                proxy = try ServedProxy(origin, in: folder, launcher: launcher)
            }
            try clients.awaitAnswers(200)
            try #require(clients.stop() == [])
        }
    }

    @Test func `sockets that are in no listener are an error that names them`() throws {
        let (one, other) = (
            try WireListener(backlog: 4096, isInherited: true),
            try WireListener(backlog: 4096, isInherited: true)
        )
        let folder = try TemporaryFolder()
        let command =
            WireListener.launcher([one.descriptor, other.descriptor], names: "web:spare")
            + [
                RunningProcess.dictum, "serve", "--upstream", "http://127.0.0.1:9", "--listen",
                "127.0.0.1:\(one.port)", "--store", "\(folder.path)/store.sqlite",
            ]
        let result = try RunningProcess.run(Array(command.dropFirst()), of: command[0])
        #expect(result.status == 1)
        #expect(result.errors.contains("127.0.0.1:\(other.port) (spare)"))
        #expect(result.errors.contains("add their addresses to `listeners`"))
        #expect(!result.errors.contains("(web)"))
    }

    @Test(arguments: [
        ("</dev/null", "1"), ("<<<text", "1"), ("<&-", "1"), ("</dev/null", "x"), ("</dev/null", "-1"),
    ])
    func `what is no listening socket is an error`(redirection: String, count: String) throws {
        let script = "exec 3\(redirection); export LISTEN_PID=$$ LISTEN_FDS=\(count); exec \"$@\""
        let result = try RunningProcess.run(
            ["-c", script, "launcher", RunningProcess.dictum, "serve", "--upstream", "http://127.0.0.1:9"],
            of: "/bin/bash")
        #expect(result.status == 1)
        #expect(
            result.errors.contains(count == "1" ? "descriptor 3 is no listening stream socket" : "LISTEN_FDS")
        )
    }

    @Test func `sockets of another process are left alone`() throws {
        let socket = try WireListener(backlog: 4096, isInherited: true)
        let proxy = try ServedProxy(
            origin(), in: TemporaryFolder(), launcher: WireListener.launcher([socket.descriptor], pid: "1"))
        #expect(proxy.port != socket.port)
        #expect(try proxy.curl("/feed").carries(body))
    }

    @Test(arguments: [false, true])
    func `the service manager hears of readiness, reloads, the successor and the end`(isAbstract: Bool) throws
    {
        let folder = try TemporaryFolder()
        let name = isAbstract ? "@dictum-\(UUID().uuidString)" : "\(folder.path)/notify"
        let manager = try NotifySocket(name)
        let proxy = try ServedProxy(
            origin(), in: folder, launcher: ["/usr/bin/env", "NOTIFY_SOCKET=\(name)"])
        #expect(try manager.next() == "READY=1")
        proxy.process.signal(SIGHUP)
        #expect(try manager.next().wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=[0-9]+/) != nil)
        #expect(try manager.next() == "READY=1")
        proxy.process.signal(SIGUSR2)
        let told = try manager.next()
        let pid = try #require(told.wholeMatch(of: /MAINPID=([0-9]+)/).flatMap { pid_t($0.output.1) })
        #expect(try proxy.process.result().status == 0)
        kill(pid, SIGTERM)
        #expect(try manager.next() == "STOPPING=1")
    }

    @Test func `the variables are for one process only`() throws {
        let socket = try WireListener(backlog: 4096, isInherited: true)
        let proxy = try ServedProxy(
            origin(), in: TemporaryFolder(),
            launcher: WireListener.launcher([socket.descriptor], names: "web"))
        proxy.process.signal(SIGUSR2)
        let match = try proxy.process.waitFor("has taken over").firstMatch(
            of: /process ([0-9]+) has taken over/)
        let pid = try #require(match.flatMap { pid_t($0.output.1) })
        defer { kill(pid, SIGTERM) }
        let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
        let names = bytes.split(separator: 0).map {
            String(decoding: $0.prefix { $0 != 0x3D }, as: UTF8.self)
        }
        #expect(names.contains("LISTEN_FDS"))
        #expect(!names.contains("LISTEN_PID") && !names.contains("LISTEN_FDNAMES"))
    }
}
