internal import Dictionaries
internal import TestSupport
internal import Testing

struct CoversTests {
    static func match(
        _ covers: String, route: String, path: String, query: String? = nil
    ) throws -> String? {
        let route = try URLPattern(route)
        return try Covers(covers, groupNames: route.groupNames).matchValue(
            for: PathAndQuery(path: path, query: query), route: route)
    }

    @Test(
        arguments: [
            ("path", "/api/feed", "x=1", "/api/feed"), ("path", "/a:b", nil, "/a{\\:}b"),
            ("path", "/a*b+(c)", nil, "/a\\*b\\+\\(c\\)"),
            ("url", "/api/feed", "x=1", "/api/feed?x=1"), ("url", "/api/feed", nil, "/api/feed?"),
            ("url", "/api/feed", "", "/api/feed?"), ("url", "/a:", "b", "/a{\\:}\\?b"),
            ("url", "/a", "t=1:2&q=a?b*", "/a?t=1{\\:}2&q=a\\?b\\*"), ("url", "/a", "q={x}", "/a?q=\\{x\\}"),
            ("pattern", "/a", nil, "/*"), ("/app/<0>.*.js", "/main", nil, "/app/main.*.js"),
        ] as [(String, String, String?, String)])
    func `the match is escaped`(covers: String, path: String, query: String?, match: String) throws {
        #expect(try Self.match(covers, route: "/*", path: path, query: query) == match)
    }

    @Test(arguments: [
        ("/app/:name.:hash.js", "/app/<name>.*.js", "/app/main.1a2b.js", "/app/main.*.js"),
        ("/app/:name.:hash.js", "/app/<name>.*.js", "/app/a*b.1.js", "/app/a\\*b.*.js"),
        ("/app/:name.:hash.js", "/app/<name>.<hash>.*", "/app/a:b.1.js", "/app/a{\\:}b.1.*"),
        ("/v/:v/x", "/v/<v>/*", "/v/12/x", "/v/12/*"), ("/a/*", "/a/<0>?v=*", "/a/b/c", "/a/b/c?v=*"),
        ("/a/:b?", "/a{/<b>}?", "/a/x", "/a{/x}?"),
    ])
    func `a template is filled from the groups`(route: String, template: String, path: String, match: String)
        throws
    {
        let value = try Self.match(template, route: route, path: path)
        #expect(value == match)
        #expect(
            try URLPattern(#require(value)).matches(path: path, query: "v=1"),
            "it fits the URL that it came from")
    }

    @Test(
        arguments: [
            // A name that the route does not have, or a group that took no part.
            ("/a/:b", "/a/<b>", "/x", nil), ("/a/:b?", "/a/<b>", "/a", nil),
            // A modifier behind an escaped colon would repeat it.
            ("/a/:b", "/a/<b>*", "/a/x:", nil), ("/a/:b/*", "/a/<b><0>*", "/a/x:/", nil),
            // A client would resolve the dots, so that the match would be for another path.
            ("/app/:name.:hash.js", "/app/<name>.*.js", "/app/....js", nil),
            ("/a/:b-x", "/a/<b>*", "/a/..-x", nil),
            ("/a/:b-x", "/a/<b>", "/a/.-x", nil), ("/a/:b-x", "/a/<b>/c", "/a/..-x", nil),
            ("/a/*-x", "/a/<0>:d", "/a/y/..-x", nil),
            // A pattern would encode these bytes, so that it would match nothing.
            ("/a/:b", "/a/<b>", "/a/\"", nil), ("/a/:b", "/a/<b>", "/a/x^", nil),
            ("/a/:b", "/a/<b>", "/a/{x}", nil),
        ] as [(String, String, String, String?)])
    func `a match that would not mean the value is not sent`(
        route: String, template: String, path: String, match: String?
    ) throws {
        #expect(try Self.match(template, route: route, path: path) == match)
    }

    @Test(arguments: ["/a/../b", "/a//b", "/%61", "/a%2fb", "/a\u{E9}", "/a\\b", "a", ""])
    func `a path outside the normal form has no match`(path: String) throws {
        for covers in ["path", "url", "pattern", "/<0>"] {
            #expect(try Self.match(covers, route: "*", path: path) == nil)
        }
    }

    @Test(arguments: ["\"", "<", ">", "#", " ", "\u{E9}"])
    func `a query that a pattern would encode has no match`(query: String) throws {
        #expect(try Self.match("url", route: "/*", path: "/a", query: query) == nil)
    }

    @Test func `a match has a longest length`() throws {
        let longest = "/" + String(repeating: "a", count: URLPattern.bytesMax - 1)
        #expect(try Self.match("path", route: "/*", path: longest) == longest)
        #expect(try Self.match("path", route: "/*", path: longest + "a") == nil)
        #expect(try Self.match("/<0>", route: "/*", path: longest) == longest)
        #expect(try Self.match("/<0>", route: "/*", path: longest + "a") == nil)
        #expect(try Self.match("url", route: "/*", path: longest) == nil)
    }

    @Test(arguments: [
        ("", "/a"), ("paths", "/a"), ("PATH", "/a"), ("/<x>", "/:y"), ("/<x", "/:x"), ("/<>", "/:x"),
        ("/<0>", "/a"), ("/(a)", "/:x"),
        ("/a{", "/:x"), ("app/<x>", "/:x"), ("/a:/<x>", "/:x"), ("/<x>#", "/:x"),
        ("/:y<x>", "/:x"),
    ])
    func `a setting that can never be sent is an error`(covers: String, route: String) throws {
        let route = try URLPattern(route)
        #expect(throws: PatternError.self) { try Covers(covers, groupNames: route.groupNames) }
    }

    @Test func `an escaped angle bracket is text`() throws {
        #expect(try Self.match("/\\<x>/<0>", route: "/*", path: "/a") == "/\\<x>/a")
    }

    /// Checks that every match fits the URL that it came from, and that a literal one fits nothing else.
    @Test func `a match fits its own URL, whatever bytes that has`() throws {
        var random = SplitMix(seed: 9842)
        let alphabet = Array("ab.-~_!$&'()*+,;=:@/%?{}\\\"<>^|[]0".utf8)
        var count = 0
        for _ in 0..<20_000 {
            let path = "/" + random.text(of: alphabet.filter { $0 != UInt8(ascii: "?") }, lengthMax: 8)
            let query = random.text(of: alphabet, lengthMax: 6)
            guard let ofPath = try Self.match("path", route: "/*", path: path),
                let ofURL = try Self.match("url", route: "/*", path: path, query: query)
            else { continue }
            count += 1
            #expect(URLPattern.unescaped(ofPath) == path)
            let sent = try #require(UseAsDictionary(match: ofURL))
            let received = try #require(UseAsDictionary.parse([sent.serialized]))
            #expect(received.match == ofURL)
            let pathPattern = try URLPattern(ofPath, basePath: path)
            let pattern = try URLPattern(received.match, basePath: path)
            #expect(
                pathPattern.matches(path: path, query: query) && pathPattern.isLiteral, "\(ofPath) of \(path)"
            )
            #expect(
                pattern.matches(path: path, query: query) && pattern.isLiteral, "\(ofURL) of \(path)?\(query)"
            )
            #expect(!pattern.matches(path: path + "x", query: query))
            #expect(!pattern.matches(path: path, query: query + "x"))
        }
        #expect(count > 1000, "the alphabet leaves enough paths in normal form")
    }
}
