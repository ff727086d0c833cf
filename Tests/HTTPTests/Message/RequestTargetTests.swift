import Primitives
import Testing

@testable import HTTP

struct RequestTargetTests {
    @Test(arguments: [
        "", "a", "a/b", "?a", "*", "/a#b", "/#", "/a b", "/\t", "/\u{7f}", "/é", "http:", "http:/a",
        "http://", "http:///a",
        "http://?a", "http://u@a/", "http://u:p@a/", "http://a b/", "http://a:x/", "http://[::1/",
        "http://a,b/", "ftp://a/",
        "ws://a/", "httpss://a/", "http//a/", "a:80", "http://a\\@b/",
    ])
    func `a malformed target is refused`(text: String) {
        #expect(throws: ParseError.malformedTarget) { try RequestTarget(text) }
    }

    @Test(arguments: ["a", "/", "*", "a:", ":80", "a:80/", "u@a:80", "http://a:80", "a:99999", "a:80?b"])
    func `CONNECT takes host and port only`(text: String) {
        #expect(throws: ParseError.malformedTarget) { try RequestTarget(text, method: .connect) }
    }

    @Test(
        arguments: [
            ("/", "/", nil, "/"), ("/a/b", "/a/b", nil, "/a/b"), ("/a?", "/a", "", "/a?"),
            ("/a?b?c", "/a", "b?c", "/a?b?c"),
            ("/?", "/", "", "/?"), ("//a/../%2e", "//a/../%2e", nil, "//a/../%2e"),
            ("/a\\b|\"<>^`{}", "/a\\b|\"<>^`{}", nil, "/a\\b|\"<>^`{}"),
            ("http://a", "/", nil, "/"), ("http://a?b", "/", "b", "/?b"), ("HTTPS://a/", "/", nil, "/"),
            ("http://a/b?c", "/b", "c", "/b?c"), ("http://a/http://b", "/http://b", nil, "/http://b"),
        ] as [(String, String, String?, String)])
    func `path and query are taken as they came`(text: String, path: String, query: String?, both: String)
        throws
    {
        let target = try RequestTarget(text)
        #expect(target.path == path)
        #expect(target.query == query)
        #expect(String(target.pathAndQuery.span) == both)
        #expect(target.text == text)
    }

    @Test(
        arguments: [
            ("/a?own", "/a", nil), ("/a?b&own", "/a", "b"), ("/a?&own", "/a", ""), ("/?own", "/", nil),
            ("/a?b?c&own", "/a", "b?c"), ("/a?own&own", "/a", "own"), ("http://a?own", "/", nil),
            ("http://a/b?c&own", "/b", "c"),
        ] as [(String, String, String?)])
    func `the last parameter of the query can be taken away`(text: String, path: String, query: String?)
        throws
    {
        let rest = try #require(try RequestTarget(text).without(lastParameter: "own"))
        #expect(rest.path == path && rest.query == query)
        #expect(try rest.text == RequestTarget(text).text.dropLast(4))
        #expect(try rest.authority == RequestTarget(text).authority)
    }

    @Test(arguments: [
        "/own", "/a&own", "/?", "/", "/a?b?own", "/a??own", "/a?own=", "/a?own&", "/a?xown", "/a?Own",
        "http://own", "/a?o",
    ])
    func `no other part of a target is its last parameter`(text: String) throws {
        #expect(try RequestTarget(text).without(lastParameter: "own") == nil)
    }

    @Test(arguments: [
        ("http://A.b/", "a.b"), ("https://a:8443?x", "a:8443"), ("HTTP://[::1]:80", "[::1]:80"),
    ])
    func `an absolute target names its authority`(text: String, authority: String) throws {
        let target = try RequestTarget(text)
        #expect(target.form == .absolute)
        #expect(target.authority == authority)
    }

    @Test func `only OPTIONS takes the asterisk`() throws {
        let target = try RequestTarget("*", method: .options)
        #expect(target.form == .asterisk)
        #expect(target.path == "*")
        #expect(target.query == nil && target.authority == nil)
    }

    @Test func `an authority form has no path`() throws {
        let target = try RequestTarget("a:443", method: .connect)
        #expect(target.form == .authority)
        #expect(target.path == "")
        #expect(target.query == nil && target.authority == nil)
        #expect(String(target.pathAndQuery.span) == "a:443")
    }
}
