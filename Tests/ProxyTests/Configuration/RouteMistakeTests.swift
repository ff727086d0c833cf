import Testing

@testable import Proxy

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

    @Test(arguments: [
        ("/v1/{id}", "f:2:23: routes[0].match: {id} matches only", ":id for one segment"),
        ("/{a_1}/x", "f:2:20: ", ":a_1 for one segment"), ("/{id}.json", "f:2:20: ", ":id for one segment"),
        ("/files/{path:path}", "f:2:26: ", "* for the rest of the path"),
    ])
    func `a parameter as FastAPI writes it is a mistake, since it matches only its name`(
        match: String, place: String, expected: String
    ) {
        let found = mistakes("routes: [{match: \"\(match)\"}]")
        #expect(found.count == 1 && found[0].hasPrefix(place) && found[0].contains(expected), "\(found)")
    }

    @Test func `what a variable stands for is not shown where a match lacks its slash`() {
        let found = mistakes("routes: [{match: \"${PATH}x\"}]", environment: ["PATH": "secret"])
        #expect(found.count == 1)
        #expect(found.first?.contains("${PATH}x") == true && found.first?.contains("secret") == false)
    }

    @Test(arguments: [
        "/", "/*", "/api/feed", "/app/:name.:hash.js", "/search?q=*", "{/:lang}?/feed",
        "/:a{b}", "/x{s}?", "/{:id}.json",
        "\\\\/a",
        "/~user/*", "/a=b",
    ])
    func `every form of a path is a match`(match: String) {
        #expect(mistakes("routes: [{match: \"\(match)\"}]") == [])
    }

    @Test(arguments: [
        ("/a//b", "two slashes, which requests never match; expected one"),
        ("/%6Cogin", "%6C, which requests never match; expected l"),
        ("/caf%c3%a9", "%c3, which requests never match; expected %C3"),
        ("/100%", "%, which requests never match; expected %25"),
        ("/x{/%2e}?", "%2e, which requests never match; expected ."),
    ])
    func `a match that no normal form of a path has is a mistake`(match: String, expected: String) {
        let found = mistakes("routes: [{match: \"\(match)\"}]")
        #expect(found.count == 1 && found[0].contains(expected), "\(found)")
    }

    @Test(arguments: [
        "/caf%C3%A9/*", "/100%25", "/a%2Fb", "/search?q=%c3//", "/login{/}?", "/a/{/b}?", "/caf\u{E9}",
    ])
    func `a match may have triples of reserved characters, and any query`(match: String) {
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
