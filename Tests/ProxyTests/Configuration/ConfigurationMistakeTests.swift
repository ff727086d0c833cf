import Testing

@testable import Proxy

/// Returns the errors of a text, one line each; the text begins at line 2.
func mistakes(_ text: String, environment: [String: String] = [:]) -> [String] {
    do throws(ConfigurationError) {
        _ = try configuration(text, environment: environment)
        return []
    } catch {
        return error.lines(file: "f")
    }
}

/// Returns the errors of a whole file, one line each.
func mistakes(inWhole bytes: [UInt8]) -> [String] {
    do throws(ConfigurationError) {
        _ = try Configuration.parse(bytes)
        return []
    } catch {
        return error.lines(file: "f")
    }
}

@Suite struct ConfigurationMistakeTests {
    @Test func `a mistake repeats nothing that ends its line or that a terminal obeys`() {
        #expect(
            mistakes(#""\e[2J\tx\u2028y": 1"#).first?.hasPrefix("f:2:1: unknown key \" [2J x y\": expected")
                == true)
    }

    @Test func `all mistakes are told at once, in the order of the text`() {
        let text = """
            listenrs: 3
            store: {max_chains: many, path: a, path: b}
            log:
              level: inf
              level: info
              access: 101%
            """
        #expect(
            mistakes(text) == [
                "f:2:1: unknown key \"listenrs\": did you mean \"listeners\"?",
                "f:3:21: store.max_chains is \"many\": expected a number from 1 to 10000000",
                "f:3:36: path is given twice: expected each key once",
                "f:5:10: log.level is \"inf\": expected debug, info, warning or error",
                "f:6:3: level is given twice: expected each key once",
                "f:7:11: log.access is \"101%\": expected true, false, or a share such as 1%",
            ])
    }

    @Test func `of the words that are near the nearest one is proposed, whichever comes first`() {
        #expect("conections".nearest(in: ["collections", "connections"]) == "connections")
        #expect("conections".nearest(in: ["connections", "collections"]) == "connections")
    }

    @Test(arguments: [
        ("limits: {connection: 5}", "2:10: unknown key \"limits.connection\": did you mean \"connections\"?"),
        ("admin: {port: 1}", "2:9: unknown key \"admin.port\": expected one of address"),
        (
            "routes:\n- match: /a\ndictionary: on",
            "4:1: unknown key \"dictionary\": it is a key of routes[]: indent it"
        ),
        (
            "routes: [{match: /a, covers: path}]",
            "unknown key \"routes[0].covers\": it is a key of routes[].dictionary: indent it"
        ),
        ("urls: [http://u]", "unknown key \"urls\": it is a key of upstream: indent it"),
        ("tls: {}", "unknown key \"tls\": it is a key of upstream and of listeners[]: indent it"),
        ("<<: {}", "2:1: unknown key \"<<\": expected one of listeners, "),
        ("routes: [{match: /a, dictionary: {delivry: auto}}]", "\"delivery\"?"),
        ("[a]: b", "2:1: this key is not plain text"),
    ])
    func `an unknown key is named with its path, and with what was meant`(text: String, expected: String) {
        #expect(mistakes(text).count == 1)
        #expect(mistakes(text).first?.contains(expected) == true)
    }

    @Test(arguments: [
        ("store: 3", "store is \"3\": expected a mapping of path, max_size"),
        ("store: []", "store is an empty list: expected a mapping"),
        ("store: {path: {}}", "store.path is an empty mapping: expected a path"),
        ("store: {path: }", "store.path is nothing: expected a path"),
        ("store: {path: ''}", "store.path is \"\": expected a path"),
        ("listeners: []", "listeners is an empty list: expected a list of 1 to 64"),
        ("listeners: [{}]", "listeners[0].address is missing: expected an address"),
        ("routes: [{dictionary: off}]", "routes[0].match is missing: expected a URL Pattern"),
        (
            "routes: [{match: /a, dictionary: maybe}]",
            "routes[0].dictionary is \"maybe\": expected on, off, or a mapping"
        ),
        ("dictionaries: maybe", "dictionaries is \"maybe\": expected on or off"),
        (
            "personal_query: [a, [b]]",
            "personal_query[1] is a list of 1: expected the name of a query parameter"
        ),
        ("personal_fields: [\"a b\"]", "personal_fields[0] is \"a b\": expected the name of a field"),
        ("personal_fields: [x-*-id]", "personal_fields[0] is \"x-*-id\": expected the name of a field"),
        ("personal_fields: [\"**token\"]", "personal_fields[0] is \"**token\": expected the name of a field"),
        ("personal_query: [user*id]", "personal_query[0] is \"user*id\": expected the name of a query"),
        ("experiment: ~", "experiment is nothing: expected on, off, or a mapping"),
        ("server_timing: null", "server_timing is nothing: expected on, off, or a mapping"),
        ("upstreams: {a: {urls: [http://u], health: }}", "upstreams.a.health is nothing: expected on, off"),
        ("authorities: [\"::1\"]", "authorities[0] is \"::1\": expected a host"),
        ("authorities: [\"[::1\"]", "expected a host"), ("authorities: [\":8080\"]", "expected a host"),
        ("authorities: [a..b]", "expected a host"), ("authorities: [\"example.com:\"]", "expected a host"),
        ("authorities: [\"example.com:99999\"]", "expected a host"),
        ("log: {access: 0x1%}", "log.access is \"0x1%\": expected true, false, or a share"),
        ("experiment: {holdout: 0x1%}", "experiment.holdout is \"0x1%\": expected a percentage"),
        (
            "compression: {codings: [br, gzp]}",
            "compression.codings[1] is \"gzp\": expected dcz, dcb, zstd, br or gzip"
        ),
        (
            "compression: {levels: {gzip: 10}}",
            "compression.levels.gzip is \"10\": expected auto, or a number from 1 to 9"
        ),
        ("compression: {codings: [br, br]}", "(one is named twice): expected each coding once"),
        ("compression: {types: [json]}", "compression.types[0] is \"json\": expected a media type"),
    ])
    func `a value of the wrong type is told with what was expected`(text: String, expected: String) {
        #expect(mistakes(text).count == 1)
        #expect(mistakes(text).first?.contains(expected) == true)
    }

    @Test(arguments: [
        ("max_age", "1s", "3650d", "999ms", "3651d"),
        ("max_body", "1", "32MiB", "0", "33554433"),
    ])
    func `a bound is kept at n and at n plus one`(
        key: String, least: String, most: String, less: String, more: String
    ) {
        for value in [least, most] {
            #expect(mistakes("routes: [{match: /a, dictionary: {\(key): \(value)}}]") == [])
        }
        for value in [less, more] {
            let found = mistakes("routes: [{match: /a, dictionary: {\(key): \(value)}}]")
            #expect(found.count == 1)
            #expect(found.first?.contains("\(key) is \"\(value)\": expected") == true)
        }
    }

    @Test(arguments: [
        "2", "s", "2 s", "2S", "-2s", "1.5s", "0x1s", "2s2s", "99999999999999999999d", "", "٢s",
    ])
    func `a duration needs a whole number and a unit`(text: String) {
        let found = mistakes("limits: {head_timeout: \"\(text)\"}")
        #expect(
            found.first?.contains("expected a duration from 1ms to 10m, such as 250ms, 10s, 5m or 7d") == true
        )
    }

    @Test(arguments: ["8MB", "8mib", "MiB", "-1", "1e6", "1.5MiB", "8 MiB", "9223372036854775807KiB"])
    func `a size needs a whole number and a binary unit`(text: String) {
        let found = mistakes("limits: {request_body: \"\(text)\"}")
        #expect(found.first?.contains("expected a size from 0 to 1TiB, such as 64KiB, 8MiB or 1GiB") == true)
    }

    @Test(arguments: [
        ("delivery: inband", "is \"inband\": expected auto, in_band or link"),
        ("ttl: 999ms", "expected a duration from 1s to 3650d"),
        ("ttl: 3651d", "expected a duration from 1s to 3650d"), ("ttl: 60", "expected a duration"),
        ("link_max_age: 59s", "expected a duration from 1m to 365d"),
        ("link_max_age: 366d", "expected a duration from 1m to 365d"),
        ("cache_control: max-age", "expected a value of Cache-Control, such as \"public, max-age=60\""),
        ("cache_control: \"max-age=60; public\"", "expected a value of Cache-Control"),
        ("cache_control: \"\"", "expected a value of Cache-Control"),
        ("cache_control: {max-age: 60}", "expected a value of Cache-Control"),
        (
            "cache_control: \"max-age=60, No-Store\"",
            "(no client keeps a dictionary with no-store): expected a value with a lifetime, such as \"max-age=60\""
        ), ("{scope: private, identity: authorization, cache_control: no-store}", "with no-store): expected"),
    ])
    func `what says how dictionaries are delivered and kept is checked`(text: String, expected: String) {
        let dictionary = text.hasPrefix("{") ? text : "{\(text)}"
        let found = mistakes("routes: [{match: /a, dictionary: \(dictionary)}]")
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
    }

    @Test(arguments: [
        ("max-age=31536000; includeSubDomains", true), ("max-age=31536000;", true),
        ("MAX-AGE=0 ; preload", true), ("max-age=3 1536000; include SubDomains", false), ("preload", false),
        ("max-age=1; preload; Preload", false), ("max-age=1; max-age=1", false),
    ])
    func `the directives of hsts stand once, as RFC 6797 writes them`(value: String, isValid: Bool) {
        let found = mistakes("listeners: [{address: \"127.0.0.1:1\", hsts: \"\(value)\"}]")
        // A valid one is told to need TLS.
        #expect(
            found.contains { $0.contains("expected a value of Strict-Transport") } == !isValid, "\(found)")
    }

    @Test(arguments: ["\"private, max-age=60\"", "no-cache", "max-age=0", "public"])
    func `any other cache_control may be meant`(value: String) {
        #expect(mistakes("routes: [{match: /a, dictionary: {cache_control: \(value)}}]") == [])
    }

    @Test(arguments: [
        ("upstream: http://u", #"such as {urls: ["http://127.0.0.1:9000"]}"#),
        ("upstream:", #"as in upstream: {urls: ["http://127.0.0.1:9000"]}"#),
        ("log: {}", #"such as {urls: ["http://127.0.0.1:9000"]}"#),
    ])
    func `an upstream of another form is told with an example`(text: String, example: String) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1 && found[0].contains(example), "\(found)")
    }

    @Test(arguments: [
        ("[http://u, ftp://v]", "1:29: upstream.urls[1] is \"ftp://v\": expected a URL such as"),
        (
            "[\"unix:run/app.sock\"]",
            "(the path of a Unix socket must be absolute and at most 107 bytes long)"
        ),
        ("[\"unix:/\(String(repeating: "a", count: 107))\"]", "must be absolute and at most 107 bytes long"),
        ("[\"unix:\"]", "must be absolute and at most 107 bytes long"),
        ("[http://u/base]", "(it has more than a host and a port)"),
        ("[\"http://u?q\"]", "(it has more than a host and a port)"),
        ("[http://a@u]", "expected a URL such as"),
        ("[\"http://u:0\"]", "expected a URL such as"),
        ("[\"http://u:65536\"]", "expected a URL such as"),
        ("[\"http://u:\"]", "expected a URL such as"),
        ("[\"http://\"]", "expected a URL such as"),
        ("[\"http://[::1\"]", "expected a URL such as"),
        ("[ftp://u]", "expected a URL such as"),
        ("[]", "upstream.urls is an empty list: expected a list of 1 to 256, each a URL such as"),
        ("http://u", "upstream.urls is \"http://u\": expected a list"),
    ])
    func `an upstream is an http URL of a host and a port, or the path of a socket`(
        urls: String, expected: String
    ) {
        let found = mistakes(inWhole: Array("upstream: {urls: \(urls)}".utf8))
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true)
    }

    @Test(arguments: [
        ("${X}", "store.path: the environment variable X is not set: set it, or write the value itself", 15),
        (
            "/a/${X}", "store.path: the environment variable X is not set: set it, or write the value itself",
            18
        ),
        ("a${", "store.path: `${` is not followed by a name and `}`: expected ${NAME}", 16),
        ("${}", "store.path: `${` is not followed by a name and `}`: expected ${NAME}", 15),
        ("${A-B}", "store.path: `${` is not followed by a name and `}`: expected ${NAME}", 15),
    ])
    func `an environment variable must have a name and be set`(text: String, expected: String, column: Int) {
        #expect(mistakes("store: {path: '\(text)'}") == ["f:2:\(column + 1): \(expected)"])
    }

    @Test func `the value of an environment variable is not shown`() {
        let found = mistakes("log: {level: \"${SECRET}\"}", environment: ["SECRET": "hunter2"])
        #expect(found == ["f:2:14: log.level is \"${SECRET}\": expected debug, info, warning or error"])
    }
}
