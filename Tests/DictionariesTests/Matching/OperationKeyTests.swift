internal import Dictionaries
internal import Testing

/// Operations in queries: the match of their offers.
struct OperationKeyTests {
    private static func match(_ query: String?, _ members: [String] = ["op"], path: String = "/graphql")
        throws -> String?
    {
        let route = try URLPattern("/*")
        return try Covers("path", groupNames: [], key: OperationKey(members))
            .matchValue(for: PathAndQuery(path: path, query: query), route: route)
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "a b", "\u{E9}", "a.b.c.d.e.f.g.h.i", String(repeating: "a", count: 65),
    ])
    func `what is no member is refused`(text: String) {
        #expect(OperationKey.path(of: text) == nil)
    }

    @Test(arguments: [
        "a", "a.b.c.d.e.f.g.h", "x-1", String(repeating: "a", count: 64),
        "a." + String(repeating: "b", count: 64),
    ])
    func `a path of one to eight names of up to 64 bytes is a member`(text: String) {
        #expect(OperationKey.path(of: text) == text.split(separator: ".").map(String.init))
    }

    @Test(
        arguments: [
            (nil, "/graphql"), ("", "/graphql"), ("x=1", "/graphql"), ("op", "/graphql"),
            ("OP=Feed", "/graphql"),
            ("op=Feed", "/graphql?{*&}?op=Feed{&*}?"), ("a=1&op=Feed&b=2", "/graphql?{*&}?op=Feed{&*}?"),
            ("%6Fp=Feed", "/graphql?{*&}?%6Fp=Feed{&*}?"), ("op=A&op=B", "/graphql?{*&}?op=A&{*&}?op=B{&*}?"),
            ("op=a:b*", "/graphql?{*&}?op=a{\\:}b\\*{&*}?"), ("op=\"", nil), ("o%p=Feed", "/graphql"),
        ] as [(String?, String?)])
    func `the match has the operation of the query`(query: String?, match: String?) throws {
        #expect(try Self.match(query) == match)
    }

    @Test(
        arguments: [
            ("op=Feed", true), ("a=1&op=Feed", true), ("op=Feed&a=1", true), ("a=1&op=Feed&b=2", true),
            ("op=Feedback", false),
            ("stop=Feed", false), ("a=op=Feed", false), ("op=Profile", false), ("", false), (nil, false),
        ] as [(String?, Bool)])
    func `it fits all queries with the same operation, and no other`(query: String?, isFit: Bool) throws {
        let pattern = try URLPattern(try #require(try Self.match("op=Feed")))
        #expect(pattern.matches(path: "/graphql", query: query) == isFit)
    }

    @Test(
        arguments: [
            ("/a:", "op=x"), ("/graphql", "op=A&v=2"), ("/graphql", "op=a{*&}?b"), ("/graphql", nil),
            ("/graphql", "op={&*}?"),
        ] as [(String, String?)])
    func `a match fits the URL that it came from`(path: String, query: String?) throws {
        let key = OperationKey(["op", "v"])
        let covers = try Covers("path", groupNames: [], key: key)
        let route = try URLPattern("/*")
        guard let match = covers.matchValue(for: PathAndQuery(path: path, query: query), route: route) else {
            return
        }
        #expect(try URLPattern(match).matches(path: path, query: query))
    }

    @Test func `a body names its operation by the members that it has`() {
        let key = OperationKey(["op", "extensions.persistedQuery.sha256Hash"])
        #expect(RequestOperation(key, nil) == nil)
        #expect(RequestOperation(key, [nil, nil]) == nil)
        let operation = RequestOperation(key, [nil, "abc"])
        #expect(operation?.members.map(\.name) == ["extensions.persistedQuery.sha256Hash"])
        #expect(operation != RequestOperation(key, ["abc", nil]))
    }
}
