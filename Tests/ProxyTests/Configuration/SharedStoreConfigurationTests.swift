internal import Foundation
internal import HTTP
internal import Redis
internal import Testing

@testable import Proxy

/// The setting of the store that several proxies share.
@Suite struct SharedStoreConfigurationTests {
    private static func redis(_ text: String) throws -> RedisSettings {
        try #require(try configuration("store: {shared: \(text)}").store.shared)
    }

    @Test func `a URL alone is enough, and a mapping has the rest`() throws {
        let short = try Self.redis("redis://10.0.0.5")
        #expect(short.address == .host("10.0.0.5", port: 6379) && !short.usesTLS && short.database == 0)
        #expect(short.keyPrefix == "dictum" && short.timeout == 20 && short.password == nil)
        let long = try Self.redis(
            """
            {url: "rediss://fleet:a%40b:c@redis.test:6380/3", key_prefix: shop, timeout: 50ms, ca: /ca.pem,
             password_file: /secret}
            """)
        #expect(long.address == .host("redis.test", port: 6380) && long.usesTLS && long.database == 3)
        #expect(long.user == "fleet" && long.password == "a@b:c" && long.passwordFile == "/secret")
        #expect(long.keyPrefix == "shop" && long.timeout == 50 && long.tls.authority == "/ca.pem")
        #expect(long.text == "rediss://redis.test:6380/3")
        #expect(try Self.redis("\"redis://:pw@[::1]:7000/1\"").text == "redis://[::1]:7000/1")
        #expect(try configuration("store: {shared: off}").store.shared == nil)
        #expect(try configuration("").store.shared == nil)
    }

    @Test(arguments: [
        ("redis://:pw@[::1]:7000", RedisSettings.Address.host("::1", port: 7000), 0),
        ("valkeys://host/15", .host("host", port: 6379), 15),
        ("unix:///run/redis.sock", .unix(path: "/run/redis.sock"), 0),
        ("unix:/run/redis.sock?db=2", .unix(path: "/run/redis.sock"), 2),
        ("redis+unix:///run/a%20b", .unix(path: "/run/a b"), 0),
        ("redis-socket:///run/redis.sock?db=1", .unix(path: "/run/redis.sock"), 1),
        ("unix://me:pw@/run/redis.sock", .unix(path: "/run/redis.sock"), 0),
        ("redis://a@b:c@host", .host("host", port: 6379), 0),
        (
            "unix:/" + String(repeating: "a", count: 106),
            .unix(path: "/" + String(repeating: "a", count: 106)), 0
        ),
    ])
    func `URLs are read as Redis's own tools write them`(
        url: String, address: RedisSettings.Address, database: Int
    ) throws {
        let redis = try Self.redis("\"\(url)\"")
        #expect(redis.address == address && redis.database == database)
    }

    @Test(
        arguments: [
            ("valkeys://host/15", true, nil, nil), ("valkey://host", false, nil, nil),
            ("REDISS://host", true, nil, nil), ("redis://:pw@[::1]:7000", false, nil, "pw"),
            ("unix://me:pw@/run/redis.sock", false, "me", "pw"), ("unix:/run/redis.sock", false, nil, nil),
            ("redis://a@b:c@host", false, "a@b", "c"), ("redis://me@host", false, "me", nil),
        ] as [(String, Bool, String?, String?)])
    func `the scheme says whether TLS is spoken, and what is before the last @ who asks`(
        url: String, usesTLS: Bool, user: String?, password: String?
    ) throws {
        let redis = try Self.redis("\"\(url)\"")
        #expect(redis.usesTLS == usesTLS && redis.user == user && redis.password == password)
    }

    @Test(arguments: [
        "unix:/run/a%20%23b", "unix:/run/a%2520b", "unix:/run/a%3Fdb=1", "unix:/run/%C3%A9:",
        "unix:/run/redis.sock?db=2", "rediss://[::1]:7000/3",
    ])
    func `the effective configuration has a URL of the same server`(url: String) throws {
        let given = try configuration("store: {shared: \"\(url)\"}")
        let shown = EffectiveConfiguration(given)
        let again = try Configuration.parse(Array(shown.yaml.utf8))
        #expect(again.store.shared == given.store.shared && shown.redacted.isEmpty, "\(shown.yaml)")
    }

    @Test(arguments: [
        ("http://host", "not the URL"), ("redis:host", "not the URL"), ("host:6379", "not the URL"),
        ("redis://host:0", "the port is invalid"), ("redis://host:99999", "the port is invalid"),
        ("redis://host:+6379", "the port is invalid"), ("redis://u:hush%+fb@host", "invalid escape"),
        ("redis://", "the host"), ("redis://host.:6379", "the host"), ("redis://[host]", "the host"),
        ("redis://host/abc", "the database"), ("redis://host/-1", "the database"),
        ("redis://host/65536", "the database"), ("redis://host?x=1", "more than an address"),
        ("redis://host/0?x=1", "more than an address"), ("redis://host/#0", "more than an address"),
        ("redis://u:hush%zz@host", "invalid escape"), ("unix://host/path", "the path"),
        ("unix:relative", "the path"), ("redis://hush@a:1,b:2", "several hosts"),
        ("redis+sentinel://a:26379/mymaster", "Sentinel is not supported"),
        ("redis-sentinel://a:26379", "Sentinel is not supported"),
        ("redis-cluster://a", "Cluster is not supported"), ("on", "not the URL"),
        ("unix:/" + String(repeating: "a", count: 107), "the path"), ("unix:/a%00b", "the path"),
        ("unix:/a?x=1", "more than an address"), ("redis://[::1", "the host"),
        ("redis://host/+5", "the database"),
    ])
    func `other URLs are refused with words that show no secret`(url: String, words: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try configuration("store: {shared: \"\(url)\"}")
        }
        let text = try #require(error?.problems.first?.text)
        #expect(text.contains(words) && text.contains("expected redis://"))
        #expect(!text.contains("hush"))
    }

    @Test func `the rest has bounds, and the URL is required`() {
        let cases = [
            ("{timeout: 20ms}", "store.shared.url is missing"), ("{url: redis://a, timeout: 0ms}", "timeout"),
            ("{url: redis://a, timeout: 1001ms}", "timeout"),
            ("{url: redis://a, key_prefix: \"a b\"}", "key_prefix"),
            ("{url: redis://a, passwort_file: /x}", "did you mean"),
            ("[redis://a]", "store.shared is a list of 1: expected redis://"),
        ]
        for (text, words) in cases {
            let error = #expect(throws: ConfigurationError.self) {
                try configuration("store: {shared: \(text)}")
            }
            #expect(error?.problems.contains { $0.text.contains(words) } == true, "\(text)")
        }
    }

    @Test func `the configurations of FLEET.md are valid`() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../deploy/FLEET.md").standardized
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```yaml\n")
            .dropFirst()
        #expect(parts.count >= 2)
        for part in parts {
            let block = try #require(part.components(separatedBy: "```").first)
            #expect(try configuration(block).store.shared != nil)
        }
    }
}
