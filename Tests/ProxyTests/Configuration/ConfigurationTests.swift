import Dictionaries
import HTTP
import Storage
import Testing

@testable import Proxy

/// Parses a text after a line with an upstream, so that each test contains only its own settings.
func configuration(
    _ text: String, environment: [String: String] = [:]
) throws(ConfigurationError) -> Configuration {
    try Configuration.parse(Array(("upstream: {urls: [http://u]}\n" + text).utf8), environment: environment)
}

@Suite struct ConfigurationTests {
    @Test func `what is left out has the default of the contract`() throws {
        let configuration = try configuration("")
        #expect(configuration.listeners == [.init(address: .tcp(host: "127.0.0.1", port: 8080))])
        #expect(configuration.trustedProxies == [.loopback, .unix])
        #expect(configuration.secureTransport == .auto)
        #expect(configuration.upstream.acceptEncoding == .identity)
        #expect(configuration.upstream.connectTimeout == 2_000)
        #expect(configuration.upstream.responseTimeout == 30_000)
        #expect(configuration.upstream.idleTimeout == 60_000)
        #expect(configuration.upstream.keepAlive == 256)
        #expect(configuration.store == .init())
        #expect(configuration.store.maxSize == 1_073_741_824)
        #expect(configuration.compression.codings == [.dcz, .dcb, .zstd, .br, .gzip])
        #expect(configuration.compression.minSize == 256)
        #expect(configuration.compression.types.contains("application/problem+json; charset=utf-8"))
        #expect(configuration.dictionariesOn)
        #expect(configuration.personal(on: nil).matches(fieldName: "X-Auth-Request-Email"))
        #expect(configuration.personal(on: nil).hasPersonalQuery("a=1&sig=2"))
        #expect(configuration.limits.keepAliveTimeout == 75_000)
        #expect(configuration.admin == .init(address: .tcp(host: "127.0.0.1", port: 9901)))
        #expect(configuration.log == .init())
        #expect(configuration.log.access.sample == 1)
        #expect(!configuration.explain)
    }

    @Test func `without routes there is one for everything, in band`() throws {
        let route = try #require(try configuration("").routes.first)
        #expect(route.text == "/*")
        #expect(route.match.first(PathAndQuery("/any/path?a=1")) != nil)
        #expect(route.dictionary?.delivery == .inBand)
        #expect(route.dictionary?.coversText == "path")
    }

    @Test func `a written route has the defaults of the contract, delivery auto among them`() throws {
        let route = try #require(try configuration("routes: [{match: /a}]").routes.first)
        let policy = try #require(route.dictionary)
        #expect(policy.delivery == .auto)
        #expect(policy.ttl == nil && policy.cacheControl == nil)
        #expect(policy.linkMaxAge == 86_400_000)
        #expect(policy.maxAge == 2_592_000_000)
        #expect(policy.maxBody == 8_388_608)
        #expect(!policy.cookiesIgnored)
        #expect(policy.sharedCaches == .avoid)
    }

    @Test func `every setting that is given is taken`() throws {
        let configuration = try configuration(
            """
            listeners: [{address: "[::1]:8443"}, {address: unix:/run/d.sock}]
            trusted_proxies: [10.0.0.0/8]
            secure_transport: never
            store: {path: ":memory:", max_size: 2MiB, max_chains: 7}
            memory: {total: 3GiB, store: 1%}
            compression: {codings: [br], min_size: 1KiB, types: [text/plain]}
            dictionaries: off
            routes:
              - match: /a/:x
                dictionary:
                  covers: /b/<x>
                  max_age: 5m
                  max_body: 64KiB
                  match_dest: [script]
                  ttl: 7d
                  cache_control: public, max-age=5
                  delivery: link
                  link_max_age: 1m
                  scope: public
                  cookies: ignore
                  ignore_set_cookie: [lb]
                  shared_caches: trust
                  revalidate: false
              - {match: /*, dictionary: off}
            personal_fields: [x-me-*]
            personal_query: [me]
            limits: {request_head: 1KiB, request_body: 5, connections: 9, head_timeout: 250ms, keepalive_timeout: 1h}
            admin: false
            log: {level: error, format: json, access: 1%}
            explain: true
            """)
        #expect(configuration.listeners.map(\.address.description) == ["[::1]:8443", "unix:/run/d.sock"])
        #expect(configuration.trustedProxies.contains(try #require(IPAddress("10.1.2.3"))))
        #expect(configuration.secureTransport == .never)
        #expect(configuration.store.path == ":memory:")
        #expect(configuration.store.maxChains == 7)
        #expect(Budgets(configuration.memory)[.store] == 32_212_254)
        #expect(configuration.compression.codings == [.br])
        #expect(!configuration.compression.types.contains("application/json"))
        #expect(!configuration.dictionariesOn)
        let policy = try #require(configuration.routes[0].dictionary)
        let match = configuration.routes[0].match.patterns[0]
        #expect(policy.covers.matchValue(for: PathAndQuery(path: "/a/1"), route: match) == "/b/1")
        #expect(policy.maxAge == 300_000)
        #expect(policy.matchDest == ["script"])
        #expect(policy.ttlSeconds == 604_800)
        #expect(policy.cacheControl == "public, max-age=5")
        #expect(policy.delivery == .link)
        #expect(policy.linkMaxAge == 60_000)
        #expect(policy.cookiesIgnored)
        #expect(policy.ignoreSetCookie == ["lb"])
        #expect(policy.sharedCaches == .trust)
        #expect(configuration.routes[1].dictionary == nil)
        #expect(configuration.personal(on: nil).matches(fieldName: "x-me-too"))
        #expect(configuration.personal(on: configuration.routes[0]).cookiesIgnored)
        #expect(configuration.limits.headTimeout == 250)
        #expect(configuration.limits.keepAliveTimeout == 3_600_000)
        #expect(configuration.admin == nil)
        #expect(configuration.log.level == .error)
        #expect(configuration.log.access.sample == 0.01)
        #expect(configuration.explain)
    }

    @Test func `the access log takes a share or a section`() throws {
        let section = try configuration(
            "log: {access: {sample: 10%, file: /var/log/a.log, format: combined, client_fields: none}}")
        var expected = Configuration.Log.Access()
        (expected.sample, expected.file) = (0.1, "/var/log/a.log")
        (expected.format, expected.clientFields) = (.combined, .none)
        #expect(section.log.access == expected)
        for (text, sample) in [("false", 0.0), ("off", 0), ("true", 1), ("12.5%", 0.125), ("100%", 1)] {
            var short = Configuration.Log.Access()
            short.sample = sample
            #expect(try configuration("log: {access: \(text)}").log.access == short, "\(text)")
            #expect(try configuration("log: {access: {sample: \(text)}}").log.access == short, "\(text)")
        }
        for text in [
            "101%", "-1%", "5.%", "[1%]", "{sample: 101%}", "{path: /a}", "{file: \"\"}", "{format: common}",
        ] {
            #expect(throws: ConfigurationError.self, "\(text)") {
                try configuration("log: {access: \(text)}")
            }
        }
    }

    @Test(arguments: ["off", "false"])
    func `the word off of a choice has the spellings of off`(word: String) throws {
        #expect(try configuration("personal: \(word)").personal == .off)
    }

    @Test func `an experiment divides by the word that is set`() throws {
        #expect(try configuration("experiment: {by: address}").experiment?.unit == .address)
        #expect(try configuration("experiment: {by: client}").experiment?.unit == .client)
    }

    @Test(arguments: ["admin: off", "admin: false"])
    func `off in place of admin means no admin listener`(admin: String) throws {
        let text = "upstream: {urls: [\"http://127.0.0.1:9000\"]}\n\(admin)\n"
        let configuration = try Configuration.parse(Array(text.utf8))
        #expect(configuration.admin == nil)
    }

    @Test func `a section whose lines are all commented out has its defaults`() throws {
        #expect(try configuration("limits:\n  # connections: 5\n").limits == .init())
    }

    @Test func `an environment variable stands for text and never for structure`() throws {
        let text = "store: {path: \"/data/${NAME}/x\"}\nlog: {level: \"${LEVEL}\"}"
        let configuration = try configuration(text, environment: ["NAME": "a: [b]\n", "LEVEL": "debug"])
        #expect(configuration.store.path == "/data/a: [b]\n/x")
        #expect(configuration.log.level == .debug)
    }

    @Test func `serving without a file takes an upstream, an address and a store`() throws {
        let configuration = try Configuration.implied(
            upstream: "http://u:9000/", listen: "0.0.0.0:80", store: ":memory:")
        #expect(configuration.upstream.urls.map(\.description) == ["http://u:9000"])
        #expect(configuration.listeners.map(\.address.description) == ["0.0.0.0:80"])
        #expect(configuration.store.path == ":memory:")
        #expect(try Configuration.implied(upstream: "http://u").store.path == "./dictum.sqlite")
    }

    @Test func `mistakes of the command line are told all at once`() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.implied(upstream: "ftp://u", listen: "80", store: "")
        }
        #expect(error?.problems.map(\.line) == [1, 2, 3])
        #expect(error?.problems[1].text.hasPrefix("--listen is \"80\": expected an address such as") == true)
    }

    @Test func `a route's policy for the decisions follows its settings`() throws {
        let configuration = try configuration(
            """
            dictionaries: off
            compression: {min_size: 7}
            routes: [{match: /a, dictionary: {max_body: 9, ignore_set_cookie: [lb]}}, {match: /b, dictionary: off}]
            """)
        let policies = configuration.routes.map(configuration.policy)
        #expect(policies.map(\.hasDictionary) == [true, false])
        #expect(!policies[0].areDictionariesOn)
        #expect(policies[0].bodyBytesMin == 7)
        #expect(policies[0].bodyBytesMax == 9)
        #expect(policies[0].personal.ignoredSetCookies == ["lb"])
    }
}
