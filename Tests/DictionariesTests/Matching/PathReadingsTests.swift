internal import Dictionaries
internal import Testing

/// The readings of paths in other spellings.
struct PathReadingsTests {
    @Test(arguments: [
        ("/login", "/login"), ("/%6Cogin", "/login"), ("/%6c%6F%67in", "/login"), ("//login", "/login"),
        ("/./login", "/login"), ("/x/../login", "/login"), ("/x/%2e%2E/login", "/login"),
        ("/../../login", "/login"), ("/login/.", "/login/"), ("/login/x/..", "/login/"),
        ("/login//", "/login/"), ("/.//login", "/login"), ("/", "/"), ("//", "/"), ("/..", "/"), ("/.", "/"),
        ("/login%2f", "/login%2F"), ("/x%2f..%5cy", "/x%2F..%5Cy"), ("/a\\b", "/a\\b"), ("/...", "/..."),
        ("/caf%c3%a9", "/caf%C3%A9"), ("/%40user", "/%40user"), ("/a{b}", "/a%7Bb%7D"), ("/a\"b", "/a%22b"),
        ("/100%", "/100%25"), ("/%25%36%31", "/%2561"), ("/%%36%31", "/%2561"), ("/%zz", "/%25zz"),
        ("*", "*"), ("", ""), ("a/../b", "a/../b"),
    ])
    func `the routed path is decoded, resolved and merged`(path: String, routed: String) {
        #expect(PathReadings(path).routed == routed)
        #expect(PathReadings.routed(path) == routed)
        #expect(PathReadings.routed(routed) == routed, "once is enough")
    }

    @Test(arguments: [
        ("/login%2F", ["/login/", "/login"]), ("/login/.", ["/login"]), ("/login/x/..", ["/login"]),
        ("/login\\", ["/login/", "/login"]), ("/admin%2fx", ["/admin/x"]),
        ("/x%2F..%2Fadmin/x", ["/admin/x"]), ("/x\\..\\admin", ["/admin"]),
        ("/..;/login", ["/login"]), ("/x/..;a=b/login", ["/login"]), ("/x/%2e.%3B/login", ["/login"]),
        ("/%40user", ["/@user"]), ("/a%7Cb", ["/a|b"]),
        // Plain slashes at the end, and characters that stay encoded.
        ("//login/", []), ("/login/./", []), ("/caf%c3%a9/", []), ("/caf%C3%A9", []), ("/100%25", []),
        ("/%2561dmin", []), ("/a%20b%3F", []), ("/a{b}", []), ("/%00", []), ("//", []),
    ])
    func `a lenient recipient decodes all, and may drop a slash that is not plain`(
        path: String, lenient: [String]
    ) {
        #expect(PathReadings(path).lenient == lenient)
    }

    @Test(arguments: [
        ("/api/../login", ["/api/../login"]),
        ("/%61pi//%2e%2e/login", ["/api/../login"]),
        ("/api%2F..%2Flogin", ["/api/../login"]), ("/./login", ["/./login"]),
        ("//login", []), ("/login/", []),
    ])
    func `a recipient may leave dot segments where they are`(path: String, unresolved: [String]) {
        #expect(PathReadings(path).unresolved == unresolved)
    }

    @Test(arguments: [
        ("/a%2Fb", true), ("/a%2fb", true), ("/a%5Cb", true), ("/a%5cb", true), ("/a\\b", true),
        ("/..;/a", true), ("/a/.%3Bx", true), ("/a;x/b", false), ("/...;x", false), ("/a%252Fb", false),
        ("/a/b", false), ("/a%20b", false),
    ])
    func `encoded slashes, backslashes, and dots with parameters may hide segments`(
        path: String, isHidden: Bool
    ) {
        #expect(PathReadings(path).hidesSegments == isHidden)
    }

    @Test(
        arguments: [
            ("/login", .plain), ("/a/", .plain), ("/a|b;c=d,e", .plain), ("/%C3%A9", .plain),
            ("/a%20b", .plain), ("/100%25", .plain), ("/%c3%A9", .encoded), ("/%C3%a9", .encoded),
            ("/%40", .encoded),
            ("/a{b", .encoded), ("/a`b", .encoded), ("/a^b", .encoded), ("/a<b", .encoded), ("//", .other),
            ("/%6C", .other), ("/a\\b", .other), ("*", .other),
        ] as [(String, NormalPath.Form)])
    func `a plain path has no other reading`(path: String, form: NormalPath.Form) {
        #expect(NormalPath.form(of: path) == form)
        guard form == .plain else { return }
        let readings = PathReadings(path)
        #expect(readings.routed == path && readings.lenient.isEmpty && readings.unresolved.isEmpty)
        #expect(!readings.hidesSegments)
    }
}
