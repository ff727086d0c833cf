internal import Dictionaries
internal import Testing

/// Regexp groups, which a route may use where its `match` is not sent on.
struct RegexpGroupTests {
    @Test(arguments: [
        ("/(\\d+)", ["/1", "/123"], ["/", "/a", "/1a"]),
        ("/:v(v[0-9]+)/x", ["/v1/x", "/v23/x"], ["/v/x", "/w1/x"]),
        ("/(a|b|)/c", ["/a/c", "/b/c", "//c"], ["/c", "/ab/c"]),
        ("/(a{2,3})", ["/aa", "/aaa"], ["/a", "/aaaa"]),
        ("/(a{2})", ["/aa"], ["/a", "/aaa"]), ("/(a{2,})", ["/aa", "/aaaaa"], ["/a"]),
        ("/((?:ab)+c?)", ["/ab", "/ababc"], ["/c", "/aba"]),
        ("/([^/.]+\\.js)", ["/a.js"], ["/a.b.js", "/a/b.js", "/.js"]),
        ("/(\\w+-\\W)", ["/a_1--"], ["/a_1-b"]),
        ("/([a\\-z])", ["/a", "/-", "/z"], ["/b"]), ("/(.)", ["/a", "//"], ["/", "/ab"]),
        ("/([\\d.]+)", ["/1.2"], ["/1a"]),
        ("/(a)?", ["", "/a"], ["/"]), ("/(a)+", ["/a", "/a/a"], ["/"]), ("/(.*)", ["/", "/a/b"], [""]),
        ("/(a*?)b", ["/b", "/aab"], ["/a"]), ("/(\\S)", ["/a"], ["/"]), ("/(\\D)", ["/a"], ["/1"]),
    ])
    func `a regexp group fits what it says`(pattern: String, fitting: [String], others: [String]) throws {
        let compiled = try URLPattern(pattern, allowsRegexpGroups: true)
        for path in fitting { #expect(compiled.matches(path: path, query: nil), "\(path)") }
        for path in others { #expect(!compiled.matches(path: path, query: nil), "\(path)") }
    }

    @Test(arguments: [
        "/([)", "/([a)", "/([b-a])", "/(a{3,2})", "/(a{,2})", "/(a{257})", "/(*a)", "/(a**)", "/(\\b)",
        "/(\\1)", "/(^a)", "/(a$)",
        "/((?=a))", "/((?<n>a))", "/(\u{E9})", "/([\u{E9}])", "/(a{2)", "/((?:a)", "/((?:a{200}){200})",
        "/(" + String(repeating: "(?:", count: 17) + "a" + String(repeating: ")", count: 17) + ")",
    ])
    func `what no linear matcher can follow, or is malformed, is an error`(pattern: String) {
        #expect(throws: PatternError.self) { try URLPattern(pattern, allowsRegexpGroups: true) }
    }

    @Test(arguments: [
        ("/(.*)", false), ("/:a(.*)", false), ("/(.+)", true), ("/:a(\\d)", true), ("/a?b=(x)", true),
        ("/*", false),
    ])
    func `a pattern knows whether it has regexp groups`(pattern: String, hasRegexpGroups: Bool) throws {
        #expect(try URLPattern(pattern, allowsRegexpGroups: true).hasRegexpGroups == hasRegexpGroups)
        if hasRegexpGroups {
            #expect(throws: PatternError.self) { try URLPattern(pattern) }
        } else {
            _ = try URLPattern(pattern)
        }
    }

    @Test func `the error names the place inside the expression`() {
        #expect(throws: PatternError(offset: 7, "\\b, which is not supported in a regular expression")) {
            try URLPattern("/x/(a\\b)", allowsRegexpGroups: true)
        }
    }
}
