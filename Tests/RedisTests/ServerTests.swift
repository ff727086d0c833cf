import Foundation
import HTTP
import Primitives
import TestSupport
import Testing

@testable import Redis

/// The client before a real server, and the faults of servers.
@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct ServerTests {
    private static func key(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `commands in one piece have their replies in order, whatever the bytes are`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        let value: [UInt8] = [0, 13, 10, 36, 255] + Array(repeating: 7, count: 1 << 20)
        let replies = try test.result([
            .setIfAbsent(Self.key("a"), to: value, seconds: 60),
            .setIfAbsent(Self.key("a"), to: [1], seconds: 60),
            .get(Self.key("a")), .getAll([Self.key("b"), Self.key("a")]), RedisCommand("EXISTS", "a"),
            RedisCommand("NONSENSE"), .delete([Self.key("a")]),
        ]).get()
        #expect(replies[0].isOK)
        #expect(replies[1] == .null)
        #expect(replies[2] == .bytes(value))
        #expect(replies[3] == .array([.null, .bytes(value)]))
        #expect(replies[4] == .integer(1))
        #expect(replies[5].error?.code == "ERR")
        #expect(replies[6] == .integer(1))
        let first = try #require(test.reports.first)
        #expect(first.contains("connected, redis ") || first.contains("connected, valkey "))
        let counts = test.client.counts
        #expect(counts.commands["error"] == 1 && counts.bytesReceived > 2 << 20)
    }

    @Test func `kill -9 ends what waits, closes the way at once, and the server is found again`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        let ended = Guarded<Result<[RESPValue], RedisFailure>?>(nil)
        // A command that the server keeps.
        try test.client.send([RedisCommand("BLPOP", "none", "0")], .background, deadline: 60_000) { result in
            ended.withLock { $0 = result }
        }
        server.kill()
        try waitUntil("the command ends") { ended.withLock { $0 } != nil }
        #expect(ended.withLock { $0 } == .failure(.lost))
        try waitUntil("the client notices") { !test.client.isAvailable }
        #expect(throws: RedisFailure.unavailable) { try test.ask(RedisCommand("PING"), .request) }
        try test.waitForReport("not available")
        try server.start()
        try waitUntil("the client is back: \(test.reports)") { test.isWhole }
        try test.waitForReport("available again")
        #expect(test.client.counts.outages == 1)
    }

    @Test func `commands that are late at the same time all end`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        let ended = Guarded(0)
        // The server keeps the first, and does not begin the others before it has ended.
        for _ in 0..<3 {
            try test.client.send([RedisCommand("BLPOP", "none", "0")], .background, deadline: 100) { _ in
                ended.withLock { $0 += 1 }
            }
        }
        // Its end would end them, too.
        try withExtendedLifetime(test) {
            try waitUntil("all have ended", seconds: 60) { ended.withLock { $0 } == 3 }
        }
    }

    @Test func `a server that stands still costs five deadlines, then nothing until it goes on`() throws {
        let server = try RedisServer()
        let test = try TestClient(server)
        server.pause()
        defer { server.resume() }
        var timeouts = 0
        try waitUntil("the breaker opens") {
            do {
                switch try test.result([RedisCommand("PING")], .request) {
                case .failure(.timedOut): timeouts += 1
                // The last one before it stood still; or what waited when the breaker opened.
                case .success, .failure(.lost): break
                case let other: Issue.record("\(other)")
                }
                return false
            } catch RedisFailure.unavailable {
                return true
            }
        }
        #expect(timeouts <= 5)
        try test.waitForReport("no reply in time")
        server.resume()
        try waitUntil("the client is back: \(test.reports)") { test.isWhole }
    }

    @Test func `full memory refuses new versions, keeps the old ones, and says what to do`() throws {
        let server = try RedisServer(["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"])
        let test = try TestClient(server)
        #expect(try test.ask(.set(Self.key("a"), to: [1], seconds: 60)).isOK)
        let large = [UInt8](repeating: 1, count: 1 << 20)
        var code: String?
        for index in 0..<8 where code == nil {
            code = try test.ask(.set(Self.key("l\(index)"), to: large, seconds: 60)).error?.code
        }
        #expect(code == "OOM")
        #expect(try test.ask(.get(Self.key("a")), .request) == .bytes([1]))
        try test.waitForReport("allkeys-lru")
        #expect(test.client.isAvailable)
        #expect(test.client.counts.errors["OOM"] ?? 0 > 0)
    }

    // MARK: Rights

    @Test func `a wrong password is named without showing it`() throws {
        let server = try RedisServer(["--requirepass", "right"])
        var settings = RedisSettings(address: .unix(path: server.socket))
        settings.password = "s3cret"
        let wrong = try TestClient(settings, isAwaited: false)
        try wrong.waitForReport("refuses the user or the password")
        #expect(!wrong.reports.contains { $0.contains("s3cret") || $0.contains("right") })
        settings.password = nil
        let missing = try TestClient(settings, isAwaited: false)
        try missing.waitForReport("store.shared.password_file")
        settings.password = "right"
        #expect(throws: Never.self) { try TestClient(settings) }
    }

    @Test func `an ACL without a command refuses that one, and the message names the line to add`() throws {
        let server = try RedisServer()
        try server.command("ACL", "SETUSER", "dictum", "on", ">pw", "~dictum:*", "+ping", "+get", "+set")
        var settings = RedisSettings(address: .unix(path: server.socket))
        (settings.user, settings.password) = ("dictum", "pw")
        let test = try TestClient(settings)
        #expect(try test.ask(.get(Self.key("dictum:1:a"))) == .null)
        #expect(try test.ask(.delete([Self.key("dictum:1:a")])).error?.code == "NOPERM")
        #expect(try test.ask(.get(Self.key("other"))).error?.code == "NOPERM")
        try test.waitForReport("FLEET.md")
        #expect(test.client.isAvailable)
    }

    @Test func `a server in cluster mode is refused with words`() throws {
        let server = try RedisServer(["--cluster-enabled", "yes"])
        let test = try TestClient(server, isAwaited: false)
        try test.waitForReport("cluster mode")
        #expect(!test.client.isAvailable)
    }

    @Test func `a replica is refused, and used once it is the master`() throws {
        let server = try RedisServer(["--replicaof", "127.0.0.1", "\(freePort())"])
        let test = try TestClient(server, isAwaited: false)
        try test.waitForReport("read-only replica")
        #expect(!test.client.isAvailable)
        try server.command("REPLICAOF", "NO", "ONE")
        try waitUntil("the client is back: \(test.reports)") { test.isWhole }
    }

    @Test func `a master that becomes a replica loses all connections, so that the new master is found`()
        throws
    {
        let server = try RedisServer()
        // Redis also ends the reads that wait. Who follows nothing hears of the new role as the first cause; another one would be
        // reported only a minute later.
        let (test, other) = (try TestClient(server), try TestClient(server))
        test.follow("news")
        try test.waitFor(.caughtUp)
        try server.command("REPLICAOF", "127.0.0.1", "\(freePort())")
        for each in [test, other] {
            #expect(try each.result([.set(Self.key("a"), to: [1], seconds: 60)]) == .failure(.lost))
            try waitUntil("requests do not ask it either") { !each.client.isAvailable }
            #expect(each.client.counts.errors["READONLY"] == 1)
        }
        try other.waitForReport("read-only replica")
        try test.waitFor(.interrupted)
        try server.command("REPLICAOF", "NO", "ONE")
        try waitUntil("the client is back: \(test.reports)") { test.isWhole }
        try test.waitFor(.resumed)
    }

    @Test func `a value that is larger than any of Dictum's is an error, and the connection goes on`() throws
    {
        let server = try RedisServer()
        let test = try TestClient(server)
        let script = "return redis.call('SET', KEYS[1], string.rep('x', 30000000))"
        try server.command("EVAL", script, "1", "large")
        let connections = test.client.counts.connections
        let replies = try test.result(
            [.get(Self.key("large")), .getAll([Self.key("large"), Self.key("none")]), RedisCommand("PING")],
            .background, deadline: 60_000)
        let error = RESPValue.error(
            RedisErrorReply(code: "TOOLARGE", message: "a value of 30000000 bytes, more than Dictum writes"))
        #expect(replies == .success([error, .array([error, .null]), .status(Array("PONG".utf8))]))
        #expect(test.client.counts.connections == connections)
    }

    @Test func `a database has its own keys, and a missing one is named`() throws {
        let server = try RedisServer(["--databases", "2"])
        var settings = RedisSettings(address: .unix(path: server.socket))
        settings.database = 1
        let test = try TestClient(settings)
        _ = try test.ask(.set(Self.key("a"), to: [1], seconds: 60))
        #expect(try server.command("-n", "1", "EXISTS", "a") == "1")
        settings.database = 2
        try TestClient(settings, isAwaited: false).waitForReport("no database 2")
    }

    // MARK: TLS

    @Test func `TLS works with the right authority, and a wrong one is refused with words`() throws {
        let (own, foreign) = (try TestCertificates(), try TestCertificates())
        let port = try freePort()
        let server = try RedisServer(
            [
                "--tls-cert-file", own.file("server.pem"), "--tls-key-file", own.file("server.key"),
                "--tls-ca-cert-file", own.file("ca.pem"), "--tls-auth-clients", "no",
            ], tlsPort: port)
        var settings = RedisSettings(address: .host("localhost", port: port))
        settings.usesTLS = true
        settings.tls.authority = own.file("ca.pem")
        let test = try TestClient(settings)
        let large = [UInt8](repeating: 9, count: 1 << 20)
        #expect(try test.ask(.set(Self.key("a"), to: large, seconds: 60)).isOK)
        #expect(try test.ask(.get(Self.key("a"))) == .bytes(large))

        settings.tls.authority = foreign.file("ca.pem")
        try TestClient(settings, isAwaited: false).waitForReport("certificate cannot be trusted")
        settings.tls.authority = own.file("missing.pem")
        try TestClient(settings, isAwaited: false).waitForReport("missing.pem")
        settings.usesTLS = false
        try TestClient(settings, isAwaited: false).waitForReport("rediss://")
        withExtendedLifetime(server) {}
    }

    @Test func `a TLS client before a port without TLS says so`() throws {
        let server = try RedisServer(port: try freePort())
        var settings = RedisSettings(address: .host("127.0.0.1", port: try #require(server.port)))
        settings.usesTLS = true
        settings.tls.verifies = false
        try TestClient(settings, isAwaited: false).waitForReport("redis://")
    }

    // MARK: The network

    @Test func `a network that drops everything costs hits only, and is found again`() throws {
        let server = try RedisServer(port: try freePort())
        let relay = try Relay(to: try #require(server.port))
        let test = try TestClient(RedisSettings(address: .host("127.0.0.1", port: relay.port)))
        test.follow("news")
        try test.waitFor(.caughtUp)
        relay.drops = true
        try waitUntil("commands are refused at once") {
            do {
                _ = try test.result([RedisCommand("PING")], .request)
                return false
            } catch RedisFailure.unavailable {
                return true
            }
        }
        try server.command("XADD", "news", "*", "v", "while away")
        try test.waitFor(.interrupted)
        relay.drops = false
        try waitUntil("the client is back: \(test.reports)") { test.isWhole }
        try test.waitFor(.resumed)
        try test.waitForValues(["while away"])
    }
}
