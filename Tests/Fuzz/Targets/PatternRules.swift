internal import Dictionaries

/// The rules for URL Patterns: a pattern that captures also matches, and an escaped text matches only itself.
///
/// The first line is a pattern, and the others are URLs.
enum PatternRules {
    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 8).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let text = lines.first else { return }
        if let pattern = try? URLPattern(text) {
            for url in lines.dropFirst() {
                let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
                let (path, query) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
                let isMatch = pattern.matches(path: path, query: query)
                let captures = pattern.captures(path: path, query: query)
                try require(isMatch == (captures != nil), "a pattern captures where it matches")
            }
            try require((try? URLPattern(pattern.text)) != nil, "a pattern's text is one")
            _ = try? Covers(lines.last ?? "", groupNames: pattern.groupNames)
        }
        _ = try? Template(text, groupNames: ["name"])
        let path = "/" + text.utf8.map { String($0, radix: 16) }.joined(separator: "/")
        if let escaped = try? URLPattern(URLPattern.escaped(path)) {
            try require(escaped.matches(path: path, query: nil), "an escaped path matches itself")
            try require(
                !escaped.matches(path: path + "x", query: nil), "an escaped path matches nothing else")
        }
    }
}
