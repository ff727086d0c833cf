import Foundation
import HTTP
import Testing

@testable import Proxy

@Suite struct ConfigurationCheckTests {
    private func examples(_ match: String, _ covers: String) throws -> [ConfigurationCheck.Example] {
        let text = "routes: [{match: '\(match)', dictionary: {covers: '\(covers)'}}]"
        return ConfigurationCheck(try configuration(text)).routes[0].examples
    }

    @Test func `what a template keeps tells chains apart, and what it drops does not`() throws {
        #expect(
            try examples("/app/:name.:hash.js", "/app/<name>.*.js") == [
                .init(url: "/app/one.1a2b.js", chain: "/app/one.*.js"),
                .init(url: "/app/one.3c4d.js", chain: "/app/one.*.js"),
                .init(url: "/app/two.1a2b.js", chain: "/app/two.*.js"),
            ])
    }

    @Test(arguments: [
        ("/v/*/x/:y{.json}?", "/v/<0>/*", "/v/one/x/1a2b.json"), ("/s/:a+", "/s/<a>", "/s/one"),
        (#"/c{\:}d/:a"#, "/c/<a>", "/c:d/one"), ("/q?a=:a&b=*", "/q?a=<a>*", "/q?a=one&b=1a2b"),
    ])
    func `an example is written by the parts of the match`(match: String, covers: String, url: String) throws
    {
        #expect(try examples(match, covers).first?.url == url)
    }

    @Test func `each pattern of a list has examples of its own`() throws {
        let text = "routes: [{match: [/v1/:a.:h.js, '/v2/:a.:h.js'], dictionary: {covers: '/*/<a>.*.js'}}]"
        let examples = ConfigurationCheck(try configuration(text)).routes[0].examples
        #expect(
            examples.map(\.url).filter { $0.contains("one.1a2b") } == ["/v1/one.1a2b.js", "/v2/one.1a2b.js"])
        #expect(examples.allSatisfy { $0.chain == "/*/one.*.js" || $0.chain == "/*/two.*.js" })
    }

    @Test(arguments: [
        (["/a", "/a"], 1), (["/*", "/a"], 1), (["/api/*", "/api/:name.js"], 1), (["/a", "/a?x=1"], 1),
        (["/a/:x", "/a/:x"], 1), (["/{*}", "/a/:x", "/b?c"], 2),
        (["/a", "/*"], 0), (["/a?x=1", "/a"], 0), (["/api/*", "/api"], 0), (["/a/:x", "/a/b"], 0),
        (["/a/*.js", "/a/*"], 0), (["/*?a=1", "/a"], 0), (["/a/*", "{/a}?/b"], 0),
    ])
    func `a route that a former one leaves nothing for is told`(matches: [String], count: Int) throws {
        let routes = matches.map { "- match: \"\($0)\"" }.joined(separator: "\n")
        #expect(try configuration("routes:\n" + routes).warnings.count == count)
    }

    @Test(arguments: [
        ("/api/.*", true), ("/api/no.*$", true), ("/.*", true), ("/api/*", false), ("/app/*.js", false),
        ("/a/(.*)", false), ("/a.*", false),
    ])
    func `a match that looks like a regular expression is told`(match: String, isTold: Bool) throws {
        let warnings = try configuration("routes: [{match: \"\(match)\"}]").warnings
        #expect(warnings.contains { $0.text.contains("looks like a regular expression") } == isTold)
    }

    @Test(arguments: [
        ("match: /api/", #"is "/api/" and matches that path alone; did you mean "/api/*"?"#),
        ("match: [/a, /api/]", #"where /api/ matches that path alone; did you mean "/api/*"?"#),
        ("match: /api/**", #"is "/api/**": * alone matches any text, with slashes; did you mean "/api/*"?"#),
        ("match: [/api/, /api/*]", nil), ("match: /api/}, {match: /api/*", nil),
        ("match: /api/}, {match: /*", nil), ("match: /api/}, {match: /items/", nil),
        ("match: /", nil), ("match: \"/a?b=/\"", nil), ("match: /docs/, announce: [/feed]", nil),
    ])
    func `a match that seems to be meant for all below a path, and is not, is told`(
        route: String, text: String?
    ) throws {
        let warnings = try configuration("routes: [{\(route)}]").warnings.map(\.text).filter {
            $0.contains("did you mean")
        }
        #expect(warnings.count == (text == nil ? 0 : 1))
        if let text { #expect(warnings.first?.contains(text) == true, "\(warnings)") }
    }

    @Test func `a warning names the line of the route, and of the one that is in its way`() throws {
        let configuration = try configuration(
            "routes:\n- match: /*\n- match: /api/account/*\n  dictionary: off")
        #expect(
            configuration.warningLines(file: "f") == [
                "f:4:10: warning: routes[1].match is \"/api/account/*\" and never reached: the first route that matches "
                    + "counts, and routes[0], \"/*\" in line 3, matches everything that this one matches"
            ])
        let json = ConfigurationCheck(configuration).json
        #expect(json.contains(#""valid":true,"warnings":[{"column":10,"line":4,"text":"routes[1].match is"#))
    }

    @Test func `what no route of a file is, is no warning`() throws {
        #expect(try configuration("").warnings.isEmpty)
        #expect(try Configuration.implied(upstream: "http://u").warnings.isEmpty)
    }

    @Test func `a route shows how it delivers, to whom, for how long, and what browsers do`() throws {
        func route(_ dictionary: String) throws -> ConfigurationCheck.Route {
            ConfigurationCheck(try configuration("routes: [{match: /a, dictionary: \(dictionary)}]")).routes[
                0]
        }
        let on = try route("on")
        #expect(
            on.delivery == "auto"
                && on.scope?.hasPrefix("public; a response that belongs to one user") == true
                && on.life?.contains("upstream's response") == true)
        let kept = try route(#"{cache_control: "max-age=60, stale-while-revalidate=600", delivery: in_band}"#)
        #expect(kept.delivery == "in_band" && kept.life?.hasPrefix("660 s") == true)
        #expect(kept.browsers?.contains(#"fetch(url, {cache: "no-cache"})"#) == true)
        let lost = try route(#"{cache_control: "public, no-cache"}"#)
        #expect(lost.life?.hasPrefix("0 s") == true && lost.browsers?.hasPrefix("keep nothing") == true)
        let link = try route("{delivery: link, link_max_age: 7d}")
        #expect(link.life == "7d (link_max_age)" && link.browsers?.contains("documents only") == true)
        let own = try route("{scope: private, identity: authorization}")
        #expect(own.delivery == "in_band" && own.scope?.hasPrefix("private: ") == true)
        // No page announces what belongs to one user.
        #expect(
            own.browsers?.contains("/.dictum/own.js") == true && own.browsers?.contains("announce") == false)
        #expect(on.browsers?.contains("announce") == true && on.browsers?.contains("/.dictum/own.js") == true)
        let impersonal = try route("{personal: off}")
        #expect(impersonal.scope?.hasSuffix("one user is no dictionary") == true)
        let off = try route("off")
        #expect(off.delivery == nil && off.browsers == nil)
        let none = ConfigurationCheck(try configuration("dictionaries: off\nroutes: [{match: /a}]")).lines
        #expect(none[1...] == ["route /a covers off (dictionaries: off)"])
        let lines = ConfigurationCheck(try configuration("routes: [{match: /a}]")).lines
        #expect(
            lines[1...2] == ["route /a covers path", "  delivery: auto"]
                && lines[3].hasPrefix("  scope: public; "))
    }

    @Test
    func `what a start would stumble over is told: names, folders, an upstream that is the proxy itself`()
        throws
    {
        func warnings(_ text: String) throws -> [String] {
            try Configuration.parse(Array(text.utf8), looksAround: true).warnings.map(\.text)
        }
        let name = try warnings(
            "upstream: {urls: [\"http://127.0.0.1:9\", \"http://nowhere.invalid\"]}\nstore: {path: ':memory:'}"
        )
        #expect(
            name.count == 1
                && name[0].hasPrefix(
                    "upstream.urls[1]: the host name of http://nowhere.invalid:80 does not resolve"),
            "\(name)")
        let admin = try warnings(
            "upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: {path: ':memory:'}\nadmin: {address: \"nowhere.invalid:1\"}"
        )
        #expect(
            admin.contains { $0.hasPrefix("admin.address: nowhere.invalid does not resolve here") },
            "\(admin)")
        let missing = try warnings(
            "upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: {path: /nowhere/at/all/d.sqlite}")
        #expect(
            missing.count == 1 && missing[0].contains("store.path: /nowhere/at/all does not exist"),
            "\(missing)")
        let file = #expect(throws: ConfigurationError.self) {
            try warnings("upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: {path: /etc/passwd/d.sqlite}")
        }
        #expect(file?.problems.count == 1)
        #expect(file?.problems.first?.text.contains("/etc/passwd/d.sqlite.key") == true)
        let error = #expect(throws: ConfigurationError.self) {
            try warnings(
                "listeners: [{address: \":8080\"}]\nupstream: {urls: [\"http://127.0.0.1:8080\"]}\nstore: {path: ':memory:'}"
            )
        }
        #expect(
            error?.problems.map(\.text) == [
                "upstream.urls[0]: http://127.0.0.1:8080 is a listener of this proxy: expected the address of the upstream"
            ])
    }

    @Test func `more memory than this process may use is told, and what it may use is not`() throws {
        func warnings(_ memory: String) throws -> [String] {
            let text =
                "upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: {path: ':memory:'}\nmemory: \(memory)"
            return try Configuration.parse(Array(text.utf8), looksAround: true).warnings.map(\.text)
        }
        #expect(try warnings("16MiB") == [])
        guard ProcessMemory.usableBytes() < 1 << 40 else { return }
        let found = try warnings("1TiB")
        #expect(
            found.count == 1 && found[0].hasPrefix("memory is 1TiB, and this process may use "), "\(found)")
    }

    /// The addresses of `localhost` on this machine.
    private static let loopback = ["127.0.0.1", "::1"].filter { host in
        Endpoint.resolve(host: "localhost", port: 8080).contains {
            IPAddress(host).map { .ip($0, port: 8080) } == $0
        }
    }

    @Test(arguments: loopback)
    func `an upstream is the proxy itself if any of its addresses is that of any listener`(host: String) {
        let own = ConfiguredAddress.tcp(host: host, port: 8080)
        let text = """
            listeners: [{address: "127.0.0.1:1"}, {address: "\(own)"}]
            upstream: {urls: ["http://localhost:8080"]}
            store: {path: ":memory:"}
            """
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.parse(Array(text.utf8), looksAround: true)
        }
        #expect(
            error?.problems.map(\.text) == [
                "upstream.urls[0]: http://localhost:8080 is a listener of this proxy: expected the address of the upstream"
            ])
    }

    @Test func `on is a section with its defaults, and still needs what it cannot do without`() throws {
        let text =
            "routes: [{match: /a, dictionary: on}, {match: /b, dictionary: true}, {match: /c, dictionary: off}]"
        #expect(try configuration(text).routes.map { $0.dictionary != nil } == [true, true, false])
        #expect(throws: ConfigurationError.self) {
            try configuration("listeners: [{address: ':1', tls: on}]")
        }
    }

    @Test func `the result is JSON for programs, right or wrong`() throws {
        let check = ConfigurationCheck(try configuration("routes: [{match: /a, dictionary: off}]"))
        #expect(
            check.json
                == #"{"routes":[{"covers":"off","examples":[],"match":"/a"}],"valid":true,"warnings":[]}"#)
        let error = ConfigurationError([.init(line: 1, column: 2, text: "a \"b\"")])
        #expect(
            ConfigurationCheck.json(of: error)
                == #"{"problems":[{"column":2,"line":1,"text":"a \"b\""}],"valid":false}"#)
    }
}
