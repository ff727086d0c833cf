internal import Testing

@testable import Dictionaries
@testable import Storage

/// The bounds on the time of patterns that an upstream or a stranger chose.
struct PatternBoundsTests {
    static let path = "/" + String(repeating: "a", count: 8000) + "/b"

    @Test(arguments: [
        "/(\\d+)", "/:v(v[0-9]+)/x", "/a?b=(x)", "/{(a)}?", "/:a(.+)", "/(a)*",
        // Each pattern took a compiler as many steps as the product of the counts, without an instruction.
        "/x((?:(?:(?:(?:(?:){256}){256}){256}){256}){256})",
        "/(" + String(repeating: "(?:", count: 16) + String(repeating: "){256}", count: 16) + ")",
        "/((?:){0,256}(?:(?:){256}){0,256})",
    ])
    func `a regexp group is refused before anything is compiled`(pattern: String) throws {
        let error = #expect(throws: PatternError.self) { try URLPattern(pattern) }
        #expect(error?.text.hasPrefix("a regular expression, which RFC 9842 forbids") == true)
    }

    @Test func `the error names the place of the regexp group`() {
        let error = #expect(throws: PatternError.self) { try URLPattern("/x/(a\\b)") }
        #expect(error?.offset == 3)
    }

    @Test(arguments: ["/(.*)", "/:a(.*)", "/{a(.*)}"])
    func `the spelled-out wildcard is no regexp group`(pattern: String) throws {
        #expect(try URLPattern(pattern).matches(path: "/a/b", query: nil))
    }

    @Test(arguments: ["*/", "{a}?", "{:n}*", ":n/"])
    func `a component has eight groups and not one more`(group: String) throws {
        func pattern(_ count: Int) -> String {
            "/" + (0..<count).map { group.replacing("n", with: "n\($0)") }.joined()
        }
        _ = try URLPattern(pattern(8))
        _ = try URLPattern("/?" + pattern(8))
        let error = #expect(throws: PatternError.self) { try URLPattern(pattern(9)) }
        #expect(error?.text == "more than 8 groups; expected a shorter pattern")
        #expect(throws: PatternError.self) { try URLPattern("/?" + pattern(9)) }
    }

    @Test(
        .timeLimit(.minutes(40)),
        arguments: [
            "/" + String(repeating: "*a", count: 8) + "c", "/" + String(repeating: "{*}*", count: 8) + "c",
            "/" + (0..<8).map { ":a\($0){a}" }.joined() + "{c}",
            "/*" + String(repeating: "a", count: 2000) + "c",
        ])
    func `a hostile pattern and path take no more than their product`(pattern: String) throws {
        let compiled = try URLPattern(pattern)
        #expect(!compiled.matches(path: Self.path, query: nil))
        #expect(compiled.captures(path: String(Self.path.prefix(500)), query: nil) == nil)
    }

    @Test func `a match ends with its budget, and one within it is not changed by it`() throws {
        let hostile = try URLPattern("/*" + String(repeating: "a", count: 2000) + "c")
        var budget = MatchBudget()
        #expect(!hostile.matches(path: Self.path, query: nil, within: &budget))
        #expect(budget.isExhausted)
        #expect(!(try URLPattern("/*/x")).matches(path: "/a/x", query: nil, within: &budget))

        var enough = MatchBudget()
        #expect(try URLPattern("/*/x?a=*").matches(path: "/a/x", query: "a=1", within: &enough))
        #expect(enough.steps > MatchBudget.stepsMax - 100)
    }

    @Test func `chains with costly patterns share the budget of one look-up`() throws {
        let digest = Digest(of: [UInt8]("one body".utf8).span)
        let path = "/" + String(repeating: "a", count: 1900) + "/b"
        let costly = (0..<250).map { "/*" + String(repeating: "a", count: 1000) + "c\($0)" }
        let isFound = { (matches: [String]) in
            let index = Self.index(of: digest, in: matches)
            return index.find(digest: digest, authority: "a.test", url: PathAndQuery(path: path)) != nil
        }
        #expect(isFound(["/*/b"]))
        // Without the bound it would take 250 times 1,900 times 1,000 steps.
        let isLate = isFound(costly + ["/*/b"])
        #expect(!isLate)
        // Patterns that need no steps are found all the same: the chain of one path, or of all below one.
        let isLiteralFound = isFound(costly + [path])
        #expect(isLiteralFound)
        let isPrefixFound = isFound(costly + ["/a*"])
        #expect(isPrefixFound)
    }

    /// Makes an index of chains that have one body, in this order.
    private static func index(of digest: Digest, in matches: [String]) -> DictionaryIndex {
        let index = DictionaryIndex()
        for (number, match) in matches.enumerated() {
            let key = ChainKey(authority: "a.test", match: match)
            let facts = VersionFacts(
                digest: digest, url: "/", etag: nil, bytes: 1,
                traits: VersionTraits(variant: "", contentType: nil, maxAge: 1000))
            index.insert(
                Version(
                    facts, id: Int64(number + 1), rank: Int64(number + 1), chain: Chain(key),
                    VersionState(admittedAt: 1)))
        }
        return index
    }
}
