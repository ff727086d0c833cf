internal import Dictionaries
internal import Testing

/// Patterns and paths that take a backtracking matcher exponential or cubic time.
struct HostilePatternTests {
    static let path = "/" + String(repeating: "a", count: 8000) + "/b"

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "/" + String(repeating: "*a", count: 30) + "c", "/" + String(repeating: "{a}*", count: 60) + "c",
            "/" + String(repeating: "{*}*", count: 20) + "c",
            "/" + (0..<30).map { ":a\($0){a}" }.joined() + "{c}", "/((?:a*)*)c", "/((?:a|aa|a*)+)c",
            "/((?:a?){200}a{200})c",
        ])
    func `a hostile pattern and path take no more than their product`(pattern: String) throws {
        let compiled = try URLPattern(pattern, allowsRegexpGroups: true)
        #expect(!compiled.matches(path: Self.path, query: nil))
        #expect(compiled.captures(path: String(Self.path.prefix(500)), query: nil) == nil)
    }
}
