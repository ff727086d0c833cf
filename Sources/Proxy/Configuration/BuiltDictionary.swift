package import Dictionaries
internal import Foundation

/// A dictionary for the first responses of a route, which the operator has built or the proxy learns: the setting
/// `dictionary.built`.
///
/// It serves clients that have no version of a path yet. Its `match` is less specific than that of a path's own version, so
/// clients prefer the latter as soon as they have one (RFC 9842 section 2.2.3).
package struct BuiltDictionary: Sendable {
    package enum Source: Sendable, Equatable {
        case file(String)
        case learned
    }

    /// A reason why a file is no such dictionary.
    struct Mistake: Error {
        let text: String
    }

    package static let bytesMax = 8 << 20
    /// The type by which it is coded: that of most responses.
    static let contentType = "application/json"

    /// The `match` that is sent.
    package let match: String
    /// The operator's dictionary; nil if the proxy learns one for each host (`LearnedDictionaries`).
    package let body: Body?

    /// Reads the file of a route with this match, if it is not learned.
    init(_ source: Source, for route: RouteMatch) throws(Mistake) {
        guard route.patterns.count == 1, let match = Self.match(of: route.patterns[0].text) else {
            throw Mistake(
                text:
                    "a built dictionary needs a match of one pattern, of plain text and :name or *, such as /items/:id"
            )
        }
        self.match = match
        switch source {
        case .learned: body = nil
        case .file(let file): body = try Self.body(of: file)
        }
    }

    private static func body(of file: String) throws(Mistake) -> Body {
        let handle = FileHandle(forReadingAtPath: file)
        guard let data = try? handle?.read(upToCount: bytesMax + 1) ?? Data(), handle != nil else {
            throw Mistake(text: "the file cannot be read: expected one that `dictum train` wrote")
        }
        guard !data.isEmpty, data.count <= bytesMax else {
            throw Mistake(
                text: "the file has \(data.isEmpty ? "no" : "too many") bytes: expected 1 to \(bytesMax)"
            )
        }
        let body = Body([UInt8](data))
        guard !DictionaryFit.prefersDcb(dictionary: body) else {
            throw Mistake(
                text:
                    "the file has the format of `zstd --train`, whose tables no browser reads (RFC 9842 section 5): expected raw content, as `dictum train` writes it"
            )
        }
        return body
    }

    /// Returns a pattern as it is sent: each group as `*`, so that it is no longer than a path that it matches.
    ///
    /// Clients take the longest match. Nil if the pattern has no group, or syntax whose length would win against paths.
    static func match(of pattern: String) -> String? {
        var match = ""
        var rest = pattern[...]
        while let character = rest.popFirst() {
            switch character {
            case "{", "}", "(", ")", "\\", "+", "?": return nil
            case ":":
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                rest = rest.dropFirst(name.count)
                guard !name.isEmpty, rest.first != "*" else { return nil }
                match += "*"
            case "*" where match.last == "*": return nil
            default: match.append(character)
            }
        }
        return match.contains("*") ? match : nil
    }
}

extension SettingType where Value == BuiltDictionary.Source? {
    static let builtSource = scalar(
        "learned, or the path of a file",
        write: { source in
            switch source {
            case nil: ""
            case .learned?: "learned"
            case .file(let path)?: path.inYAML
            }
        },
        read: { text in
            text == "learned" ? .learned : SettingType<String>.readPath(text).map { .file($0) }
        })
}
