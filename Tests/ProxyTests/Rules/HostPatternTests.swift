internal import Testing

@testable import Proxy

/// The hosts of routes: pure rules.
@Suite struct HostPatternTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com", true), ("API.example.com", "api.example.com", true),
        ("api.example.com", "api.example.com:8443", true), ("api.example.com", "api.example.com.", true),
        ("api.example.com", "api.example.com.:80", true), ("api.example.com", "xapi.example.com", false),
        ("api.example.com", "api.example.com.evil.test", false), ("api.example.com", "example.com", false),
        ("*.example.com", "a.example.com", true), ("*.example.com", "a.b.example.com:1", true),
        ("*.example.com", "example.com", false), ("*.example.com", "xexample.com", false),
        ("*.example.com", ".example.com", false), ("*.example.com", "a.example.com.evil.test", false),
        ("[::1]", "[0:0:0:0:0:0:0:1]:80", true), ("[2001:DB8:0::1]", "[2001:db8::1]", true),
        ("[::1]", "[::1]", true), ("[::1]", "[::1]:8080", true), ("[::1]", "[::2]", false),
        ("127.0.0.1", "127.0.0.1:80", true), ("localhost", "localhost", true),
    ])
    func `a host matches by its whole name, a star by whole labels`(
        pattern: String, authority: String, expected: Bool
    ) throws {
        let patterns = HostPatterns([pattern])
        #expect(patterns.contains(host: HostPatterns.host(of: authority)) == expected)
        let index = try #require(HostIndex([patterns, nil]))
        let members = index.routes(for: authority)
        #expect(members.contains(0) == expected)
        #expect(members.contains(1), "a route without a host is for every host")
    }

    @Test func `the index says what the patterns of each route say`() throws {
        let routes: [HostPatterns?] = [
            HostPatterns(["*.com"]), HostPatterns(["*.example.com", "other.test"]), nil,
            HostPatterns(["a.example.com"]), HostPatterns(["*.a.example.com"]), HostPatterns(["example.com"]),
        ]
        let index = try #require(HostIndex(routes))
        for authority in [
            "example.com", "a.example.com", "b.example.com", "x.a.example.com", "y.x.a.example.com:1",
            "z.com", "com",
            "other.test", "x.other.test", "", ".", "..com", "a..com",
        ] {
            let host = HostPatterns.host(of: authority)
            let members = index.routes(for: authority)
            for (place, patterns) in routes.enumerated() {
                #expect(
                    members.contains(place) == (patterns?.contains(host: host) ?? true),
                    "\(authority), route \(place)")
            }
        }
        #expect((0..<routes.count).filter { index.routes(for: nil).contains($0) } == [2])
        #expect(HostIndex([nil, nil]) == nil)
        // A look-up per label: a host that is longer than any name costs none.
        let long = String(repeating: "a.", count: 16_000) + "com"
        #expect((0..<routes.count).filter { index.routes(for: long).contains($0) } == [2])
    }

    @Test func `of hundreds of routes a host has its own, and those for every host`() throws {
        let routes: [HostPatterns?] = (0..<200).map { place in
            place % 50 == 7 ? nil : HostPatterns(["h\(place).test", "*.d\(place % 3).test"])
        }
        let index = try #require(HostIndex(routes))
        func places(_ authority: String?) -> [Int] {
            let members = index.routes(for: authority)
            return routes.indices.filter { members.contains($0) }
        }
        #expect(places("h130.test") == [7, 57, 107, 130, 157])
        #expect(places("h63.test") == [7, 57, 63, 107, 157])
        #expect(places("h64.test") == [7, 57, 64, 107, 157])
        #expect(places("x.d1.test") == routes.indices.filter { $0 % 3 == 1 || $0 % 50 == 7 })
        #expect(places(nil) == [7, 57, 107, 157])
    }

    @Test(arguments: [
        "", "*", "*.", "a:80", "*.*.com", "a.*.com", "a b", "example.com.", ".example.com", "http://a",
        "*.[::1]", "a/b",
        "a_b\u{0}", "[::1]:80", "*.a:80", "ü.de",
    ])
    func `other texts are no hosts`(text: String) {
        #expect(!HostPatterns.isItem(text))
    }

    @Test func `patterns cover what is below them`() {
        let wide = HostPatterns(["*.example.com", "b.test"])
        #expect(wide.covers(HostPatterns(["a.example.com", "*.a.example.com", "b.test"])))
        #expect(!wide.covers(HostPatterns(["example.com"])))
        #expect(!HostPatterns(["a.example.com"]).covers(wide))
        #expect(HostPatterns(["a.example.com"]).meets(wide) && wide.meets(HostPatterns(["a.example.com"])))
        #expect(!HostPatterns(["c.test"]).meets(wide))
    }
}
