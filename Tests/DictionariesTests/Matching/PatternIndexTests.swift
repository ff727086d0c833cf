internal import TestSupport
internal import Testing

@testable import Dictionaries

/// The look-up of the first pattern that matches, by the fixed text at the start of paths.
struct PatternIndexTests {
    static func linear(_ patterns: [URLPattern], _ path: String, _ query: String?) -> Int? {
        patterns.firstIndex { $0.matches(path: path, query: query) }
    }

    @Test(arguments: [
        (["/a", "/*"], "/b", 1), (["/*", "/a"], "/a", 0), (["/a/*", "/a/b"], "/a/b", 0),
        (["/a/b", "/a/*"], "/a/b", 0), (["/a/b", "/a/*"], "/a/c", 1), (["{/a}?/b", "/a/b"], "/a/b", 0),
        (["/a?x=1", "/a"], "/a", 1), (["*", "/a"], "/a", 0), (["/:x/c", "/a/:y"], "/a/c", 0),
        (["/a/b/c", "/:x", "/a"], "/a", 1),
    ])
    func `the first in their order counts, not the longest`(
        _ texts: [String], _ path: String, _ expected: Int
    ) throws {
        let index = PatternIndex(try texts.map { try URLPattern($0) })
        #expect(index.first(path: path, query: nil) == expected)
    }

    @Test(arguments: ["", "/", "/b", "/a/", "/aa", "a"])
    func `a path that none matches has none`(_ path: String) throws {
        let index = PatternIndex(try ["/a", "/a/b", "/a/:x/c"].map { try URLPattern($0) })
        #expect(index.first(path: path, query: nil) == nil)
        #expect(PatternIndex([]).first(path: path, query: nil) == nil)
    }

    @Test func `patterns that begin alike for longer than the tree is deep are told apart`() throws {
        let start = "/" + String(repeating: "a", count: PatternIndex.depthMax + 10)
        let index = PatternIndex(try ["b", "c", "*"].map { try URLPattern(start + "/\($0)") })
        for (end, place) in [("b", 0), ("c", 1), ("d", 2)] {
            #expect(index.first(path: "\(start)/\(end)", query: nil) == place)
        }
        #expect(index.first(path: start, query: nil) == nil)
    }

    @Test func `it finds what trying one after the other finds`() throws {
        var random = SplitMix(seed: 4)
        var foundCount = 0
        for _ in 0..<300 {
            let patterns = (0..<Int.random(in: 1...30, using: &random)).compactMap { _ in
                try? URLPattern("/" + random.text(of: Array("ab/ab/*:x{}?".utf8), lengthMax: 7))
            }
            let index = PatternIndex(patterns)
            for _ in 0..<40 {
                let path = "/" + random.text(of: Array("ab/".utf8), lengthMax: 7)
                let query =
                    Bool.random(using: &random) ? random.text(of: Array("ab".utf8), lengthMax: 2) : nil
                let expected = Self.linear(patterns, path, query)
                foundCount += expected == nil ? 0 : 1
                #expect(
                    index.first(path: path, query: query) == expected, "\(patterns.map(\.text)) \(path)")
            }
        }
        #expect(foundCount > 2000, "the patterns match too little to tell")
    }

    @Test func `behind a pattern that covers another nothing is left for that one`() throws {
        var random = SplitMix(seed: 5)
        var coveredCount = 0
        for _ in 0..<20_000 {
            let pair = (0..<2).compactMap { _ in
                try? URLPattern("/" + random.text(of: Array("ab/ab/*:x{}?".utf8), lengthMax: 5))
            }
            guard pair.count == 2, pair[0].covers(pair[1]) else { continue }
            coveredCount += 1
            for _ in 0..<40 {
                let path = "/" + random.text(of: Array("ab/".utf8), lengthMax: 5)
                let query =
                    Bool.random(using: &random) ? random.text(of: Array("ab".utf8), lengthMax: 2) : nil
                guard pair[1].matches(path: path, query: query) else { continue }
                #expect(pair[0].matches(path: path, query: query), "\(pair.map(\.text)) \(path)")
            }
        }
        #expect(coveredCount > 500, "too few cover others to tell")
    }
}
