internal import Dictionaries
internal import Testing

/// The URL Pattern Standard, as RFC 9842 section 2.1.1 uses it.
struct URLPatternTests {
    /// One pattern with URLs that it matches or not; the part behind the question mark is the query.
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        let fitting: [String]
        let others: [String]

        init(_ pattern: String, fits fitting: [String], not others: [String]) {
            self.pattern = pattern
            self.fitting = fitting
            self.others = others
        }

        var testDescription: String { pattern }
    }

    static func matches(_ pattern: URLPattern, _ url: String) -> Bool {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return pattern.matches(path: parts[0], query: parts.count > 1 ? parts[1] : nil)
    }

    @Test(arguments: [
        // A pattern without a query matches any query.
        Case(
            "/api/feed", fits: ["/api/feed", "/api/feed?x=1", "/api/feed?"],
            not: ["/api/feed/", "/api/fee", "/API/feed", "/"]),
        Case(
            "/api/feed?x=1", fits: ["/api/feed?x=1"],
            not: ["/api/feed", "/api/feed?x=2", "/api/feed?x=1&y=2", "/api/feed?"]),
        Case("/api/feed?", fits: ["/api/feed", "/api/feed?"], not: ["/api/feed?x=1"]),
        Case("/api/feed?*", fits: ["/api/feed", "/api/feed?x=1"], not: ["/api/feeds"]),
        Case("/api/feed\\?x=1", fits: ["/api/feed?x=1"], not: ["/api/feed", "/api/feed?x=2"]),
        Case(
            "/feed?v=:v&*", fits: ["/feed?v=1&", "/feed?v=1&b=2", "/feed?v=a/b&c"],
            not: ["/feed?v=&b", "/feed?v=1"]),
    ])
    func `the query is free unless the pattern has one`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("/*", fits: ["/", "/a", "/a/b/c"], not: ["", "a"]),
        Case("*", fits: ["/", "/a/b"], not: ["a"]),
        Case("/a/*", fits: ["/a/", "/a/b/c"], not: ["/a", "/ab"]),
        Case("/a*", fits: ["/a", "/ab", "/a/b"], not: ["/b", "/"]),
        Case("/*.js", fits: ["/.js", "/a.js", "/a/b.js"], not: ["/a.jsx", "/js", "/a.js/"]),
        Case(
            "/a/*/c/*.js", fits: ["/a/b/c/d.js", "/a//c/.js", "/a/x/y/c/z.c/d.js"],
            not: ["/a/c/d.js", "/a/b/c/d"]),
        Case("/**", fits: ["/", "/a", ""], not: ["a"]),
        Case("/a/*?", fits: ["/a", "/a/", "/a/b"], not: ["/ab"]),
        Case("/a***", fits: ["/a", "/abc"], not: ["/b"]),
        Case("/a*?*", fits: ["/a", "/abc"], not: ["/b"]),
        Case("/a*??x", fits: ["/ab?x"], not: ["/a", "/a?y"]),
        Case("/a/*+", fits: ["/a/", "/a/b", "/a/b/c"], not: ["/a"]),
    ])
    func `a star fits any run of characters`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case(
            "/books/:id", fits: ["/books/1", "/books/a.b-c"],
            not: ["/books/", "/books", "/books/1/2", "/books/1/"]),
        Case("/books/:id?", fits: ["/books", "/books/1"], not: ["/books/", "/books/1/2"]),
        Case("/books/:id+", fits: ["/books/1", "/books/1/2/3"], not: ["/books", "/books/", "/books/1/"]),
        Case("/books/:id*", fits: ["/books", "/books/1", "/books/1/2"], not: ["/books/", "/bookshelf"]),
        Case(
            "/app/:name.:hash.js", fits: ["/app/main.1a2b.js", "/app/a.b.c.js"],
            not: ["/app/main.js", "/app/x/main.1.js"]),
        Case("/:a-:b", fits: ["/x-y", "/x-y-z"], not: ["/x", "/-y", "/x-"]),
        Case("/x:a", fits: ["/xy"], not: ["/x", "/y"]),
        Case("/:\u{E9}t\u{E9}", fits: ["/a"], not: ["/"]),
    ])
    func `a name fits one or more characters of a segment`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("/a{b}c", fits: ["/abc"], not: ["/ac", "/abbc"]),
        Case("/a{b}?c", fits: ["/abc", "/ac"], not: ["/abbc"]),
        Case("/a{b}*c", fits: ["/ac", "/abc", "/abbbc"], not: ["/abb", "/adc"]),
        Case("/a{b}+c", fits: ["/abc", "/abbc"], not: ["/ac"]),
        Case("/a{/b}?", fits: ["/a", "/a/b"], not: ["/a/", "/a/b/b"]),
        Case("/a{-:v-}?", fits: ["/a", "/a-1-"], not: ["/a-1", "/a--"]),
        Case("/a{-:v.}+", fits: ["/a-1.", "/a-1.-2.", "/a-1.2."], not: ["/a", "/a-1.-", "/a-1", "/a1."]),
        Case("/a{-:v.}*", fits: ["/a", "/a-1.-2."], not: ["/a-1"]),
        Case("{/a}*", fits: ["", "/a", "/a/a"], not: ["/", "/b"]),
        Case("/a{}b", fits: ["/ab"], not: ["/a"]),
        Case("/a{\\:}b", fits: ["/a:b"], not: ["/ab"]),
        Case("/{*}/b", fits: ["/a/b", "//b"], not: ["/b"]),
    ])
    func `braces group, and modifiers repeat the group`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("/a\\*b", fits: ["/a*b"], not: ["/axb", "/ab"]),
        Case("/a\\{b\\}", fits: ["/a%7Bb%7D"], not: ["/ab", "/a{b}"]),
        Case("/a\\+\\(\\)\\\\", fits: ["/a+()\\"], not: ["/a+()"]),
        Case("/caf\u{E9}", fits: ["/caf%C3%A9"], not: ["/caf\u{E9}", "/caf%c3%a9", "/cafe"]),
        Case("/a b\"", fits: ["/a%20b%22"], not: ["/a b\""]),
        Case("/a%2fb", fits: ["/a%2fb"], not: ["/a/b", "/a%2Fb"]),
        Case("/a?q=\u{E9}{}{\\:}", fits: ["/a?q=%C3%A9:"], not: ["/a?q=\u{E9}:"]),
    ])
    func `fixed text is matched as URLs write it`(test: Case) throws { try check(test) }

    @Test(arguments: [
        ("feed.json", "/api/v1/list", "/api/v1/feed.json", "/feed.json"),
        ("*.js", "/app/main.js", "/app/x.js", "/x.js"),
        ("?v=*", "/app/main.js", "/app/main.js?v=2", "/app/other.js?v=2"),
        ("../x", "/a/b/c", "/a/x", "/a/b/x"),
        ("./x", "/a/b/c", "/a/b/x", "/a/x"), ("", "/a/b", "/a/", "/a/b"), (":id", "/a/b", "/a/7", "/7"),
        ("x", "/a(b)*/c", "/a(b)*/x", "/ab/x"), ("{/x}", "/a/b", "/x", "/a/x"),
        ("/a/../b", "/", "/b", "/a/b"),
        ("\\/x", "/a/b", "/x", "/a/x"), ("x", "/a:b/c", "/a:b/x", "/a/x"),
        ("/a/%2E%2e/b", "/", "/b", "/a/%2E%2e/b"), ("/a/.%2e/b", "/", "/b", "/a/b"),
        ("/a/%2E/b", "/", "/a/b", "/b"),
    ])
    func `a relative pattern is resolved against its own URL`(
        pattern: String, base: String, fitting: String, other: String
    ) throws {
        let compiled = try URLPattern(pattern, basePath: base)
        #expect(Self.matches(compiled, fitting))
        #expect(!Self.matches(compiled, other))
    }

    @Test(arguments: [
        ("https://example.com/a", "https://example.com", "/a", "/b"),
        ("HTTPS://Example.com:443/a", "https://example.com", "/a", "/"),
        ("http://[::1]:8080/a*", "http://[::1]:8080", "/ab", "/b"),
        ("https://example.com?a=*", "https://example.com", "/?a=1", "/x?a=1"),
        ("https://example.com/a\\:b", "https://example.com", "/a:b", "/ab"),
        ("http://a.b:80/:x", "http://a.b:80", "/y", "/"),
    ])
    func `a whole URL of the same origin is accepted`(
        pattern: String, origin: String, fitting: String, other: String
    ) throws {
        let compiled = try URLPattern(pattern, origin: origin)
        #expect(Self.matches(compiled, fitting))
        #expect(!Self.matches(compiled, other))
    }

    @Test(arguments: [
        "http://example.com/a", "https://example.com:8443/a", "https://example.org/a", "https://*/a",
        "http{s}?://example.com/a",
        "https://user@example.com/a", "data\\:x", "https:/a", "/a:/b", "/a\\:b", "/a?b\\:c",
        "https://:host/a",
    ])
    func `a pattern of another origin is an error`(pattern: String) {
        #expect(throws: PatternError.self) { try URLPattern(pattern, origin: "https://example.com") }
    }

    @Test func `an origin alone fits every path and query`() throws {
        let pattern = try URLPattern("https://example.com", origin: "https://example.com")
        #expect(Self.matches(pattern, "/a/b?c"))
        #expect(!pattern.isLiteral)
    }

    @Test func `a whole URL is an error where no origin is known`() {
        #expect(throws: PatternError.self) { try URLPattern("https://example.com/a") }
    }

    @Test(arguments: [
        ("/a/(\\d+)", 3), ("/a/:id(\\d+)", 6), ("/a/(", 3), ("/a/()", 3), ("/a/(?:x)", 3), ("/a/((x))", 3),
        ("/a/((", 3), ("/a/{b", 3),
        ("/a/b}", 4), ("/a{b{c}}", 4), ("/a/:", 3), ("/:a/:a", 4), ("/a+", 2), ("/a{:b:c}", 5), ("/a#b", 2),
        ("/a\\", 2), ("/a\\:b", 2), ("/a?b?c", 4), ("/a{b*c*}", 6),
    ])
    func `a malformed pattern is an error with its place`(pattern: String, offset: Int) {
        #expect {
            try URLPattern(pattern)
        } throws: { error in
            guard let error = error as? PatternError else { return false }
            #expect(error.offset == offset, "\(error)")
            return !error.text.isEmpty
        }
    }

    @Test(arguments: [
        ("item-*", "/shop/item-*"), ("/item-*", "/item-*"), ("{/item-*}", "{/item-*}"),
        ("?v=*", "/shop/li\\(s\\)t?v=*"),
        ("http://a.test/x?y", "/x?y"), ("http://a.test", "/*"), ("http://a.test?y", "/?y"), ("*", "/shop/*"),
        (":id?", "/shop/:id?"), (":p*", "/shop/:p*"), ("http://A.test:80/x", "/x"), ("http://b.test/x", nil),
        ("(", nil), ("x#y", nil),
    ])
    func `a pattern without its URL means the same as an absolute path`(text: String, absolute: String?)
        throws
    {
        let base = "/shop/li(s)t"
        #expect(URLPattern.absolute(text, basePath: base, origin: "http://a.test") == absolute)
        guard let absolute else { return }
        let (here, there) = (
            try URLPattern(text, basePath: base, origin: "http://a.test"), try URLPattern(absolute)
        )
        for path in [
            "/shop", "/shop/", "/shop/a/b", "/shop/item-1", "/item-1", "/x", "/", "/shop/li(s)t", "/shop/x",
        ] {
            for query in [nil, "y", "v=1"] as [String?] {
                #expect(here.matches(path: path, query: query) == there.matches(path: path, query: query))
            }
        }
    }

    @Test func `a mistake has its place in the text as it was written, whatever it is relative to`() {
        for (text, offset) in [
            ("items/{x", 6), ("http://a.test/items/{x", 20), ("/items/{x", 7), ("items?v={x", 8),
            ("?v={x", 3),
        ] {
            #expect {
                try URLPattern(text, basePath: "/shop/list", origin: "http://a.test")
            } throws: {
                ($0 as? PatternError)?.offset == offset
            }
        }
    }

    @Test func `a pattern is accepted up to its longest length and not beyond`() throws {
        let longest = "/" + String(repeating: "a", count: URLPattern.bytesMax - 1)
        #expect(try URLPattern(longest).matches(path: longest, query: nil))
        #expect(throws: PatternError.self) { try URLPattern(longest + "a") }
    }

    @Test(arguments: [
        ("/a/:x/*\\?v=:v", "/a/<x>/<0>?v=<v>"), ("/a{-:v.}?", "/a-<v>."), ("/a\\*{b}", "/a*b"), ("*", "/<0>"),
        ("/a?", "/a?"),
    ])
    func `an example has a value in the place of each group`(pattern: String, example: String) throws {
        #expect(try URLPattern(pattern).example { "<\($0)>" } == example)
    }

    @Test(arguments: [("/a?b", true), ("/a?", true), ("?b", true), ("/a", false), ("/a/:b?", false)])
    func `a pattern names a query or leaves it free`(pattern: String, isNamed: Bool) {
        #expect(URLPattern.namesQuery(pattern) == isNamed)
    }

    @Test(arguments: [
        ("/a", true), ("/a?b=1", true), ("/a{b}", true), ("/a?", true), ("/*", false), ("/a/:b", false),
        ("/a?*b", false),
        ("/a{b}?", false), ("/", true),
    ])
    func `a literal pattern is known as such`(pattern: String, isLiteral: Bool) throws {
        #expect(try URLPattern(pattern).isLiteral == isLiteral)
    }

    private func check(_ test: Case) throws {
        let pattern = try URLPattern(test.pattern)
        for url in test.fitting {
            #expect(Self.matches(pattern, url), "\(test.pattern) must fit \(url)")
            // The short cuts and the matcher must agree.
            let path = String(url.prefix { $0 != "?" })
            let query = url.contains("?") ? String(url.drop { $0 != "?" }.dropFirst()) : nil
            #expect(pattern.captures(path: path, query: query) != nil, "captures of \(url)")
        }
        for url in test.others { #expect(!Self.matches(pattern, url), "\(test.pattern) must not fit \(url)") }
    }
}
