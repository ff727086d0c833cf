internal import Foundation
internal import TestSupport
internal import Testing

/// The options of sockets, as the kernel tells them of a running proxy.
@Suite(.timeLimit(.minutes(40))) struct ListenerOptionsTests {
    private func served(_ listener: String, launcher: [String] = []) throws -> ServedProxy {
        let origin = try Origin(wire("HTTP/1.1 200 OK", "Content-Length: 0"))
        return try ServedProxy(origin, in: TemporaryFolder(), listener: listener, launcher: launcher)
    }

    /// Returns the output of `ss` for the proxy's accepted connections.
    private func connections(_ proxy: ServedProxy) throws -> String {
        try RunningProcess.run(
            ["-tnoH", "state", "established", "( sport = :\(proxy.port) )"], of: "/usr/bin/ss"
        ).text
    }

    @Test(arguments: [("", true), ("tcp_keepalive: off", false), ("tcp_keepalive: 9h", true)])
    func `a connection's peer is asked for as the listener says`(setting: String, isAsked: Bool) throws {
        let proxy = try served(setting)
        let client = try WireSocket(port: proxy.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receive().status == 200)
        let said = try connections(proxy)
        #expect(!said.isEmpty)
        #expect(said.contains("timer:(keepalive,") == isAsked, "\(said)")
        if setting.hasSuffix("9h") { #expect(said.contains("keepalive,5"), "\(said)") }
        withExtendedLifetime(client) {}
    }

    @Test func `a reload changes what the next connections get, and says what waits for the next start`()
        throws
    {
        let proxy = try served("tcp_keepalive: off")
        let text = String(decoding: proxy.folder.read("dictum.yaml") ?? [], as: UTF8.self)
        let changed = text.replacing("tcp_keepalive: off", with: "tcp_keepalive: 1m, mptcp: on")
        try proxy.folder.write(Array(changed.utf8), to: "dictum.yaml")
        proxy.process.signal(SIGHUP)
        #expect(try proxy.process.waitFor("listeners.mptcp").contains("is in effect"))
        let client = try WireSocket(port: proxy.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receive().status == 200)
        #expect(try connections(proxy).contains("timer:(keepalive,"))
        withExtendedLifetime(client) {}
    }

    @Test func `Multipath TCP is listened for, or a line says that there is none`() throws {
        let proxy = try served("mptcp: on")
        let enabled = (try? String(contentsOfFile: "/proc/sys/net/mptcp/enabled", encoding: .utf8)) ?? "0"
        let listening = try RunningProcess.run(
            ["-MlnH", "( sport = :\(proxy.port) )"], of: "/usr/bin/ss"
        ).text
        #expect(!listening.isEmpty == enabled.hasPrefix("1"), "\(listening)")
        if !enabled.hasPrefix("1") { _ = try proxy.process.waitFor("mptcp: the kernel has no") }
        // Plain TCP clients are served all the same.
        #expect(try proxy.curl("/").code == 0)
    }

    @Test(arguments: [
        ("mptcp: perhaps", "expected on or off"), ("tcp_keepalive: 999ms", "expected on, off, or a duration"),
        ("tcp_keepalive: 32401s", "expected on, off, or a duration"),
        ("tls: {certificate: a, private_key: b, early_data: maybe}", "expected on or off"),
    ])
    func `settings out of bounds are mistakes`(listener: String, expected: String) throws {
        let errors = try mistakes(ofListener: listener)
        #expect(errors.contains(expected), "\(errors)")
    }
}
