internal import Dictionaries

/// The rules for URL Patterns: the first line is a pattern, the others are URLs; a text that is escaped matches itself.
enum PatternRules {
    static func check(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 8).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let text = lines.first else { return }
        if let pattern = try? URLPattern(text) {
            for url in lines.dropFirst() {
                let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
                _ = pattern.matches(path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil)
            }
        }
        _ = try? Template(text, groupNames: ["name"])
        let path = "/" + text.utf8.map { String($0, radix: 16) }.joined(separator: "/")
        if let escaped = try? URLPattern(URLPattern.escaped(path)) {
            require(escaped.matches(path: path, query: nil), "an escaped path matches itself")
        }
    }
}
