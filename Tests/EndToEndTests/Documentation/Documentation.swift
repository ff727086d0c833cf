internal import Foundation
internal import Testing

/// The documents of the repository, whose examples the tests run as they are written.
enum Documentation {
    /// The text of a document, by its path from the root of the repository.
    static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: root.appending(path: path).standardized, encoding: .utf8)
    }

    /// The fenced blocks of a language in a document, in their order; with `heading` those of that section alone.
    static func blocks(_ language: String, of path: String, under heading: String? = nil) throws -> [String] {
        var text = try text(path)
        if let heading {
            let start = try #require(text.range(of: "\n\(heading)\n"), "no \(heading) in \(path)").upperBound
            let level = heading.prefix { $0 == "#" }
            let end = text.range(of: "\n\(level) ", range: start..<text.endIndex)?.lowerBound
            text = String(text[start..<(end ?? text.endIndex)])
        }
        let blocks = text.components(separatedBy: "\n```\(language)\n").dropFirst().map { rest in
            rest.components(separatedBy: "\n```")[0] + "\n"
        }
        try #require(!blocks.isEmpty, "no block of \(language) in \(path)")
        return blocks
    }
}
