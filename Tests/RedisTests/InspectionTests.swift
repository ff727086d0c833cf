import Primitives
import Redis
import TestSupport
import Testing

/// What a server's settings mean for a shared store.
struct AdviceTests {
    private static let good = """
        # Server\r
        redis_version:7.0.15\r
        role:master\r
        maxmemory:4294967296\r
        maxmemory_policy:allkeys-lru\r
        cluster_enabled:0\r
        aof_enabled:0\r
        rdb_last_bgsave_status:ok\r
        """

    @Test func `a server as it should be has no findings`() {
        #expect(RedisAdvice.findings(RedisInfo(Self.good)).isEmpty)
        let valkey = Self.good.replacing(
            "redis_version:7.0.15", with: "redis_version:7.2.4\r\nvalkey_version:8.1.1")
        #expect(RedisAdvice.findings(RedisInfo(valkey)).isEmpty)
        let later = Self.good.replacing("redis_version:7.0.15", with: "redis_version:10.1.0")
        #expect(RedisAdvice.findings(RedisInfo(later)).isEmpty)
    }

    @Test(arguments: [
        ("redis_version:7.0.15", "redis_version:6.2.9", true, "Redis 7"),
        ("redis_version:7.0.15", "nothing:1", true, "does not tell its version"),
        ("role:master", "role:slave", true, "replica"),
        ("cluster_enabled:0", "cluster_enabled:1", true, "cluster mode"),
        ("maxmemory:4294967296", "maxmemory:0", false, "maxmemory is not set"),
        ("allkeys-lru", "noeviction", false, "noeviction"),
        ("allkeys-lru", "allkeys-random", false, "allkeys-random"),
        ("allkeys-lru", "volatile-random", false, "volatile-random"),
        ("aof_enabled:0", "aof_enabled:1", false, "appendonly"),
        ("bgsave_status:ok", "bgsave_status:err", false, "snapshot has failed"),
    ])
    func `one setting that is wrong is one finding`(
        setting: String, other: String, isFault: Bool, words: String
    ) {
        let findings = RedisAdvice.findings(RedisInfo(Self.good.replacing(setting, with: other)))
        #expect(findings.count == 1)
        #expect(findings.first?.isFault == isFault)
        #expect(findings.first?.text.contains(words) == true)
    }

    @Test(arguments: ["allkeys-lfu", "volatile-lru", "volatile-lfu", "volatile-ttl"])
    func `policies that keep what is used are fine`(policy: String) {
        let info = RedisInfo(Self.good.replacing("allkeys-lru", with: policy))
        #expect(RedisAdvice.findings(info).isEmpty)
    }
}

@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct InspectionTests {
    @Test func `an inspection tries every command, measures, and leaves nothing behind`() throws {
        let server = try RedisServer(["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"])
        let inspection = RedisInspection(RedisSettings(address: .unix(path: server.socket)), writes: true)
        #expect(inspection.findings.isEmpty)
        #expect(inspection.server.hasSuffix(try version(server)))
        #expect(inspection.latencyMicroseconds != nil && 1...20 ~= inspection.deadline ?? 0)
        #expect(try server.command("DBSIZE") == "0")
    }

    private func version(_ server: RedisServer) throws -> String {
        let info = RedisInfo(try server.command("INFO", "server"))
        return info["valkey_version"] ?? info["redis_version"] ?? "no version"
    }

    @Test func `the rights that FLEET.md lists are enough, and one fewer is named`() throws {
        let server = try RedisServer(["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"])
        let line = try FleetDocument.aclLine()
        try server.command(words: ["ACL"] + line)
        var settings = RedisSettings(address: .unix(path: server.socket))
        (settings.user, settings.password) = ("dictum", "SECRET")
        #expect(RedisInspection(settings, writes: true).findings.isEmpty)
        let test = try TestClient(settings)
        test.follow("dictum:1:news")
        try test.waitFor(.caughtUp)
        for name in ["xadd", "scan", "xrange"] {
            try server.command("ACL", "SETUSER", "dictum", "-" + name)
            let findings = RedisInspection(settings, writes: true).findings
            let isNamed = findings.first?.text.contains("\(name.uppercased()) fails") == true
            #expect(findings.count == 1 && isNamed, "\(findings)")
            try server.command("ACL", "SETUSER", "dictum", "+" + name)
        }
    }

    @Test func `a server that nobody reaches is one fault`() {
        let inspection = RedisInspection(
            RedisSettings(address: .unix(path: "/nowhere/redis")), writes: true)
        #expect(inspection.findings.count == 1 && inspection.findings.first?.isFault == true)
    }

    @Test func `the start warns of settings once`() throws {
        let server = try RedisServer(["--maxmemory-policy", "noeviction"])
        let test = try TestClient(server)
        try test.waitForReport("maxmemory is not set")
        try test.waitForReport("noeviction")
        try server.command("CLIENT", "KILL", "TYPE", "normal")
        try test.waitForReport("available again")
        #expect(test.warnings.count { $0.contains("noeviction") } == 1)
    }
}
