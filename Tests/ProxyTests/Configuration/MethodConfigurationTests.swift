import Dictionaries
import Testing

@testable import Proxy

/// `methods`, `key` and `requests`.
@Suite struct MethodConfigurationTests {
    @Test(arguments: [
        ("methods: [PUT]", "methods", "GET, QUERY or POST"),
        ("methods: [post]", "methods", "GET, QUERY or POST"),
        ("methods: []", "methods", "a list of 1 to 3"), ("methods: POST", "methods", "a list of 1 to 3"),
        ("methods: [POST, POST]", "methods", "each method once"),
        ("key: [\"a..b\"]", "key", "a member such as operationName"),
        ("key: [op, op]", "key", "each member once"),
        ("methods: [GET], key: [op]", "key", "no effect with methods: [GET]"),
        ("key: [a, b, c, d, e, f, g, h, i]", "key", "a list of 0 to 8"),
    ])
    func `a mistake says what was expected`(text: String, key: String, expected: String) {
        let found = mistakes("routes: [{match: /a, dictionary: {\(text)}}]")
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.contains("dictionary.\(key)") == true && found.first?.contains(expected) == true,
            "\(found)")
    }

    @Test func `requests: dictionary needs dictionaries`() throws {
        let found = mistakes("routes: [{match: /a, requests: dictionary, dictionary: off}]")
        let expected = "f:2:32: routes[0].requests: dictionary needs dictionaries: expected dictionary: on"
        #expect(found == [expected])
        #expect(
            mistakes("routes: [{match: /a, requests: yes}]").first?.contains("pass or dictionary") == true)
        let full = try configuration("routes: [{match: /a, requests: dictionary}, {match: /b}]")
        #expect(full.routes.map(\.requests) == [.dictionary, .pass])
    }

    @Test func `without them responses to GET and QUERY become versions`() throws {
        let plain = try configuration("routes: [{match: /a}]")
        #expect(plain.policy(of: plain.routes[0]).methods == [.get, .query])
        let full = try configuration("routes: [{match: /a, dictionary: {methods: [POST], key: [op, a.b]}}]")
        #expect(full.policy(of: full.routes[0]).methods == [.post])
        #expect(full.routes[0].dictionary?.key.paths == [["op"], ["a", "b"]])
    }
}
