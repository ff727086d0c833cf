import Testing

@testable import Proxy

/// What is wrong with a text, one line each, without the file's name; the text begins at line 2.
private func mistakes(_ text: String, environment: [String: String] = [:]) -> [String] {
    do throws(ConfigurationError) {
        _ = try configuration(text, environment: environment)
        return []
    } catch {
        return error.lines(file: "f")
    }
}

private func mistakes(inWhole bytes: [UInt8]) -> [String] {
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

    @Test(arguments: [
        ("limits: {connection: 5}", "2:10: unknown key \"limits.connection\": did you mean \"connections\"?"),
        ("admin: {port: 1}", "2:9: unknown key \"admin.port\": expected one of address"),
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
        ("store: []", "store is a list: expected a mapping"),
        ("store: {path: {}}", "store.path is a mapping: expected a path"),
        ("store: {path: }", "store.path is nothing: expected a path"),
        ("store: {path: ''}", "store.path is \"\": expected a path"),
        ("listeners: []", "listeners is a list: expected a list of 1 to 64"),
        ("listeners: [{}]", "listeners[0].address is missing: expected an address"),
        ("routes: [{dictionary: off}]", "routes[0].match is missing: expected a URL Pattern"),
        (
            "routes: [{match: /a, dictionary: maybe}]",
            "routes[0].dictionary is \"maybe\": expected on, off, or a mapping"
        ),
        ("dictionaries: maybe", "dictionaries is \"maybe\": expected on or off"),
        ("personal_query: [a, [b]]", "personal_query[1] is a list: expected the name of a query parameter"),
        ("personal_fields: [\"a b\"]", "personal_fields[0] is \"a b\": expected the name of a field"),
        (
            "compression: {codings: [br, gzp]}",
            "compression.codings[1] is \"gzp\": expected dcz, dcb, zstd, br or gzip"
        ),
        ("compression: {codings: [br, br]}", "(a coding is named twice): expected each coding once"),
        ("compression: {types: [json]}", "compression.types[0] is \"json\": expected a media type"),
    ])
    func `a value of the wrong type is told with what was expected`(text: String, expected: String) {
        #expect(mistakes(text).count == 1)
        #expect(mistakes(text).first?.contains(expected) == true)
    }

    @Test(arguments: [
        ("versions", "1", "10000000", "0", "10000001"),
        ("max_age", "1s", "3650d", "999ms", "3651d"),
        ("max_body", "1", "128MiB", "0", "134217729"),
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

    @Test(arguments: ["\"private, max-age=60\"", "no-cache", "max-age=0", "public"])
    func `any other cache_control may be meant`(value: String) {
        #expect(mistakes("routes: [{match: /a, dictionary: {cache_control: \(value)}}]") == [])
    }

    @Test(arguments: [
        ("[http://u, ftp://v]", "1:29: upstream.urls[1] is \"ftp://v\": expected a URL such as"),
        (
            "[\"unix:run/app.sock\"]",
            "(the path of a Unix socket must be absolute and at most 107 bytes long)"
        ),
        ("[\"unix:/\(String(repeating: "a", count: 107))\"]", "must be absolute and at most 107 bytes long"),
        ("[\"unix:\"]", "must be absolute and at most 107 bytes long"),
        ("[http://u/base]", "(more than a host and a port)"),
        ("[\"http://u?q\"]", "(more than a host and a port)"),
        ("[http://a@u]", "expected a URL such as"),
        ("[\"http://u:0\"]", "expected a URL such as"),
        ("[\"http://u:65536\"]", "expected a URL such as"),
        ("[\"http://u:\"]", "expected a URL such as"),
        ("[\"http://\"]", "expected a URL such as"),
        ("[\"http://[::1\"]", "expected a URL such as"),
        ("[ftp://u]", "expected a URL such as"),
        ("[]", "upstream.urls is a list: expected a list of 1 to 256, each a URL such as"),
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
        ("store: {}", "f:1:1: upstream is missing: expected a mapping of urls"),
        ("upstream: {}", "f:1:11: upstream.urls is missing: expected a list of 1 to 256"),
        ("", "f:1:1: the file is empty"),
        ("# only this\n", "f:1:1: the file is empty"),
        ("---\n", "f:1:1: the file is empty"),
        ("just text", "f:1:1: the file is \"just text\": expected a mapping of listeners"),
        ("a: 1\n---\nb: 2\n", "f:2:1: a second document begins here: expected one document"),
        ("upstream: [\nstore: 1\n", "f:3:1: invalid YAML"),
        ("a: b: c\n", "f:1:5: invalid YAML"),
        ("upstream: *nowhere\n", "f:1:11: invalid YAML"),
        ("a: \"\\q\"\n", "f:1:5: invalid YAML"),
        ("a: \u{1}\n", "the file is not text"),
    ])
    func `a text that is no configuration is told as such`(text: String, expected: String) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(expected) == true || found.first?.contains(": " + expected) == true)
    }

    @Test func `bytes that are not UTF-8 are told as such`() {
        #expect(mistakes(inWhole: [0x61, 0xFF]) == ["f:1:1: the file is not text: expected UTF-8"])
    }

    @Test func `anchors and aliases are refused, so that none can multiply`() {
        let bomb = (1...40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
        let text = "a0: &a0 x\n" + bomb.joined(separator: "\n") + "\n? *a40\n: 1\n"
        #expect(
            mistakes(inWhole: Array(text.utf8))
                == [
                    "f:2:10: anchors and aliases are not supported: expected the value itself, in quotes if it begins "
                        + "with *"
                ])
    }

    @Test(arguments: [
        ("upstream:\n\turls: [http://u]", "f:2:1: ", "spaces instead of the tab"),
        ("upstream:\n  urls:\n  - http://u\n  \t- http://v", "f:4:3: ", "spaces instead of the tab"),
        ("log:\n  level: info\n\taccess: true", "f:3:1: ", "spaces instead of the tab"),
        ("routes:\n- match: *.js", "f:2:11: ", "quotes around a value that begins with *"),
        ("routes: [{match: *}]", "f:1:19: ", "quotes around a value that begins with *"),
        ("personal_query: [*x]", "f:1:18: ", "quotes around a value that begins with *"),
        ("log: @a", "f:1:6: ", "quotes around a value that begins with this character"),
        ("store: %a", "f:1:8: ", "quotes around a value that begins with this character"),
        ("a: b: c", "f:1:5: ", "`key: value`"),
    ])
    func `what YAML takes for something else is told with what to write`(
        text: String, place: String, remedy: String
    ) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(place + "invalid YAML (") == true, "\(found)")
        #expect(found.first?.contains("): expected " + remedy) == true, "\(found)")
    }

    @Test func `a star or an ampersand within a value is no alias`() throws {
        let configuration = try configuration(
            "personal_fields: [x-*]\nroutes: [{match: /a&b*}, {match: \"/*\"}]")
        #expect(configuration.routes.count == 2)
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func `nesting is bounded`(opening: String) {
        let text = String(repeating: opening, count: 100_000 / opening.count)
        #expect(mistakes(inWhole: Array(text.utf8)).count == 1)
        let closed = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(
            mistakes(inWhole: Array("store: \(closed)".utf8)).contains { $0.contains("nested too deeply") })
    }

    @Test func `a file is at most 1MiB`() {
        let head = "upstream: {urls: [http://u]}\n#"
        let exact = head + String(repeating: "x", count: ConfigurationText.sizeMax - head.utf8.count)
        #expect(mistakes(inWhole: Array(exact.utf8)) == [])
        #expect(mistakes(inWhole: Array((exact + "x").utf8)).first?.contains("larger than 1MiB") == true)
    }

    @Test func `a hundred keys that are given twice are told up to a bound`() {
        let text = (0..<100).map { "k\($0): 1\nk\($0): 2\n" }.joined()
        #expect(mistakes(text).count <= 200)
        #expect(mistakes(text).contains { $0.contains("given twice") })
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

    @Test func `however a file is damaged, each mistake is one line with a place in the file`() {
        let original = Array(ConfigurationReference.text.utf8)
        var generator = SplitMix(state: 9842)
        var damaged = 0
        for _ in 0..<300 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let index = bytes.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...127, using: &generator)
                case 1: bytes.removeSubrange(index..<min(index + 9, bytes.count))
                case 2: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
                default:
                    bytes[index] = Array("[]{}:#&*!|>'\"%@`-? \n".utf8).randomElement(using: &generator) ?? 0
                }
            }
            let lines = bytes.count { $0 == 0x0A } + 1
            do throws(ConfigurationError) {
                _ = try Configuration.parse(bytes)
            } catch {
                damaged += 1
                #expect(!error.problems.isEmpty)
                #expect(error.problems.allSatisfy { 1...lines ~= $0.line && $0.column >= 1 })
                #expect(error.problems.allSatisfy { !$0.text.contains(where: \.isNewline) })
            }
        }
        #expect(damaged > 50)
    }

    @Test func `the value of an environment variable is not shown`() {
        let found = mistakes("log: {level: \"${SECRET}\"}", environment: ["SECRET": "hunter2"])
        #expect(found == ["f:2:14: log.level is \"${SECRET}\": expected debug, info, warning or error"])
    }
}

@Suite struct RouteMistakeTests {
    @Test(arguments: [
        ("/(abc", "f:2:20: routes[0].match: "),
        ("/a/{b", "f:2:22: routes[0].match: "),
        ("/x}", "f:2:21: routes[0].match: "),
    ])
    func `a bad pattern is shown where it breaks`(match: String, expected: String) {
        let found = mistakes("routes: [{match: \"\(match)\", dictionary: {covers: /x/<y>}}]")
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
    }

    @Test(arguments: [
        ("~ ^/api/no.*$", "a URL Pattern for the whole path, such as /api/feed"),
        ("= /api/etag", "a URL Pattern for the whole path"), ("^/api", "a URL Pattern for the whole path"),
        ("^~ /api/", "a URL Pattern for the whole path"), ("", "a URL Pattern for the whole path"),
        ("https://other/x", "a URL Pattern for the whole path"), ("(.*)", "a URL Pattern for the whole path"),
        ("?q=*", "\"/?q=*\""), ("api/feed", "\"/api/feed\""),
        ("*", "\"/*\""), ("*.js", "\"/*.js\""), (":lang/feed", "\"/:lang/feed\""),
        ("{:lang/}?feed", "\"/{:lang/}?feed\""),
    ])
    func `a match begins with a slash, or it would match nothing`(match: String, expected: String) {
        let found = mistakes("routes:\n- match: \"\(match)\"\n  dictionary: off")
        #expect(found.count == 1)
        let text = "f:3:10: routes[0].match is \"\(match)\" (it does not begin with /): expected \(expected)"
        #expect(found.first?.hasPrefix(text) == true, "\(found)")
    }

    @Test func `what a variable stands for is not shown where a match lacks its slash`() {
        let found = mistakes("routes: [{match: \"${PATH}x\"}]", environment: ["PATH": "secret"])
        #expect(found.count == 1)
        #expect(found.first?.contains("${PATH}x") == true && found.first?.contains("secret") == false)
    }

    @Test(arguments: [
        "/", "/*", "/api/feed", "/app/:name.:hash.js", "/search?q=*", "{/:lang}?/feed",
        "\\\\/a",
        "/~user/*", "/a=b",
    ])
    func `every form of a path is a match`(match: String) {
        #expect(mistakes("routes: [{match: \"\(match)\"}]") == [])
    }

    @Test func `a template may name only what the match captures`() {
        let found = mistakes("routes:\n- match: /a/:name\n  dictionary:\n    covers: /b/<nme>/*")
        #expect(
            found == [
                "f:5:16: routes[0].dictionary.covers: the unknown placeholder <nme>; the route's match has <name>"
            ])
    }

    @Test func `covers is a word or a path`() {
        let found = mistakes("routes: [{match: /a, dictionary: {covers: paths}}]")
        #expect(
            found.first?.contains("covers is \"paths\": expected path, url, pattern, or a template") == true)
    }

    @Test func `a regular expression is a mistake, and the remedy is several patterns`() {
        for covers in ["path", "pattern", "/a/<n>"] {
            let found = mistakes(#"routes: [{match: '/a/:n(\d+)', dictionary: {covers: "\#(covers)"}}]"#)
            #expect(found.count == 1)
            #expect(
                found.first?.contains(
                    "a regular expression, which RFC 9842 forbids; expected *, :name or {…}, or several patterns"
                )
                    == true)
        }
    }

    @Test func `a match is a pattern or a list of them`() {
        #expect(mistakes("routes: [{match: [/a, '/b/:n']}]") == [])
        #expect(mistakes("routes: [{match: []}]").count == 1)
        let places = mistakes("routes:\n- match: [/a, b]")
        #expect(
            places.first?.hasPrefix("f:3:15: routes[0].match[1] is \"b\" (it does not begin with /)") == true,
            "\(places)")
        let many = (0...RouteMatch.countMax).map { "/\($0)" }
        #expect(mistakes("routes: [{match: [\(many.dropLast().joined(separator: ", "))]}]") == [])
        #expect(mistakes("routes: [{match: [\(many.joined(separator: ", "))]}]").count == 1)
    }

    @Test func `a template may name only groups that all patterns of a list have`() {
        let covers = "dictionary: {covers: /c/<n>}"
        #expect(mistakes("routes: [{match: ['/a/:n', '/b/:n/:m'], \(covers)}]") == [])
        #expect(mistakes("routes: [{match: ['/a/:n', '/b/:m'], \(covers)}]").count == 1)
    }
}

/// A small generator, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
