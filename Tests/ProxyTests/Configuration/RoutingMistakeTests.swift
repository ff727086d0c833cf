import Testing

@testable import Proxy

/// Mistakes in `upstreams` and in the routes that lead there.
@Suite struct RoutingMistakeTests {
    private static let two = "upstreams: {shop: {urls: [http://s]}, api: {urls: [http://a]}}\n"

    @Test(arguments: [
        (
            "routes: [{match: /a, upstream: shp}]",
            "routes[0].upstream is \"shp\", which is not in upstreams: did you mean \"shop\"?"
        ),
        (
            "routes: [{match: /a, upstream: other}]",
            "routes[0].upstream is \"other\", which is not in upstreams: expected one of shop, api"
        ),
        (
            "routes: [{match: /a, upstream: shop, host: a:80}]",
            "routes[0].host is \"a:80\": expected a host without a port, such as api.example.com"
        ),
        (
            "routes: [{match: \"/a/*\", upstream: shop, strip_prefix: /b}]",
            "routes[0].strip_prefix is \"/b\" (/a/* does not begin with it): expected the start of every match, such as /a"
        ),
        (
            "routes: [{match: /a, strip_prefix: \"/*\"}]",
            "routes[0].strip_prefix is \"/*\": expected a path of fixed segments"
        ),
        (
            "routes: [{match: /a, headers: {response: {set: {Cache-Control: public}}}}]",
            "routes[0].headers.response.set: Cache-Control decides what becomes a dictionary: expected dictionary.cache_control"
        ),
        (
            "routes: [{match: /a, headers: {request: {remove: [Host]}}}]",
            "routes[0].headers.request.remove[0] is \"Host\" (this field is required (RFC 9112 section 3.2)): expected another"
        ),
        (
            "routes: [{match: /a, headers: {request: {set: {Host: \"a/b\"}}}}]",
            "routes[0].headers.request.set.Host: invalid value: expected a host with an optional port"
        ),
        (
            "routes: [{match: /a, headers: {request: {set: {X-A: a, x-a: b}}}}]",
            "routes[0].headers.request.set.x-a: given twice: expected each field once"
        ),
        (
            "routes: [{match: /a, headers: {request: {set: {x_request-id: a}}}}]",
            "routes[0].headers.request.set: x_request-id is set by request_id: expected another field"
        ),
        (
            "routes: [{match: /a, headers: {request: {remove: [A, X-Request-ID]}}}]",
            "routes[0].headers.request.remove: X-Request-ID is set by request_id: expected another field"
        ),
        (
            "routes: [{match: \"/api{/*}?\", strip_prefix: /api}]",
            "(/api{/*}? does not begin with it): expected patterns without braces, such as [/api, /api/*]"
        ),
        ("routes: [{match: /a, limits: {rate: 5}}]", "routes[0].limits.rate is \"5\": expected a rate"),
    ])
    func `a mistake is told with what was expected`(text: String, expected: String) {
        let found = mistakes(Self.two + text)
        #expect(found.count == 1 && found[0].contains(expected), "\(found)")
    }

    @Test(arguments: [
        ("upstreams: {}", "upstreams is an empty mapping: expected a mapping of 1 to 256 names"),
        ("upstreams: [a]", "upstreams is a list of 1: expected a mapping of 1 to 256 names"),
        ("upstreams: {a: {}}", "upstreams.a.urls is missing: expected a list of 1 to 256"),
        ("upstreams: {a b: {urls: [http://a]}}", "upstreams has the name \"a b\": expected 1 to 64 letters"),
        (
            "upstreams: {a: {urls: [http://a], reties: 1}}",
            "unknown key \"upstreams.a.reties\": did you mean \"retries\"?"
        ),
        (
            "upstreams: {a: {urls: [http://a]}}",
            "f:1:1: upstream is missing: expected it, or routes that each name one of upstreams"
        ),
        (
            "upstreams: {a: {urls: [http://a]}}\nroutes: [{match: /a, upstream: a}, {match: /b}]",
            "f:2:44: routes[1].upstream is missing: expected a, or the setting upstream for all such routes"
        ),
        (
            "upstreams: {a: {urls: [https://a], tls: {ca: /nowhere}}}\nroutes: [{match: /a, upstream: a}]",
            "upstreams.a.tls: "
        ),
    ])
    func `upstreams by name are checked like the one without`(text: String, expected: String) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test func `the field of client_subject_field is not a route's either`() {
        let listener =
            "listeners: [{address: \"127.0.0.1:1\", tls: {client_ca: /c, client_subject_field: x-s}}]"
        let found = mistakes(listener + "\nroutes: [{match: /a, headers: {request: {set: {X-S: a}}}}]")
        #expect(
            found.contains { $0.contains("set: X-S is set by client_subject_field: expected") }, "\(found)")
    }

    @Test(arguments: ["/api?q=*", "/api", "/api/*", "/api/:id?"])
    func `a prefix may be stripped where every path begins with it, whatever the query`(match: String) {
        #expect(mistakes("routes: [{match: \"\(match)\", strip_prefix: /api}]") == [])
    }

    @Test func `an upstream that no route chooses gives a warning with its place`() throws {
        let text = Self.two + "routes: [{match: /a, upstream: shop}]"
        let found = try configuration(text).warningLines(file: "f")
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.hasSuffix("warning: upstreams.api is not used: no route has upstream: api") == true,
            "\(found)")
    }

    @Test func `routes of other hosts are reached, those of the same hosts are not`() throws {
        let reached =
            "routes: [{match: \"/*\", host: a.test}, {match: \"/*\", host: b.test}, {match: \"/*\"}]"
        #expect(try configuration(reached).warnings.isEmpty)
        let hidden = "routes: [{match: \"/*\", host: \"*.test\"}, {match: \"/a\", host: b.test}]"
        #expect(try configuration(hidden).warnings.count == 1)
    }

    @Test func `check says where a route leads`() throws {
        let text = Self.two + "routes: [{match: \"/a/*\", host: s.test, upstream: shop, strip_prefix: /a}]"
        let lines = ConfigurationCheck(try configuration(text)).lines
        #expect(lines.contains("route s.test/a/* covers path"))
        #expect(lines.contains("  upstream: shop") && lines.contains("  strip_prefix: /a"))
    }
}
