internal import Foundation
internal import Testing

/// The documents of the repository, whose examples the tests run as written.
enum Documentation {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardized

    /// The paths of all documents from the root of the repository.
    static func paths() throws -> [String] {
        try ["", "deploy/", "Sources/Proxy/Proxy.docc/"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
                .filter { $0.hasSuffix(".md") }.map { folder + $0 }
        }.sorted()
    }

    /// Returns the text of a file, by its path from the root of the repository.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns true if there is a file or folder at a path from the root of the repository.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    /// Returns the path of a link from the root of the repository; the link is relative to a document's folder.
    static func path(_ link: String, besides document: String) -> String {
        var parts = document.split(separator: "/").dropLast()
        for part in link.split(separator: "/") {
            if part == ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// Returns the anchors of a document's headings, as hosts of repositories make them.
    static func anchors(of path: String) throws -> [String] {
        try text(path).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
            heading.drop { $0 == "#" || $0 == " " }.lowercased()
                .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                .replacing(" ", with: "-")
        }
    }

    /// Returns the names of the folders that have the Swift files of a folder of the repository.
    static func folders(in folder: String) -> Set<String> {
        let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects
        let files = (names as? [String] ?? []).filter { $0.hasSuffix(".swift") && $0.contains("/") }
        return Set(files.map { String($0.prefix { $0 != "/" }) })
    }

    /// Returns the texts of all Swift files below a folder of the repository.
    static func sources(in folder: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        return try (names?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".swift") }.map {
            try text("\(folder)/\($0)")
        }
    }

    /// Returns the fenced blocks of a language in a document, in order; with `heading`, those of that section.
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
