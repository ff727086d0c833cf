internal import Primitives

/// A pattern of paths and queries (URL Pattern Standard, as RFC 9842 section 2.1.1 uses it).
///
/// It is written as a path with an optional query, or as a whole URL of the given origin. A pattern without a query
/// matches any query; scheme, host and port are those of the origin. The path is matched in its percent-encoded
/// form.
///
/// There are no regexp groups: RFC 9842 forbids them in a `match`, and a route takes several patterns instead. The
/// time of a match is at most the product of both sizes. A class, because a match would copy a value.
package final class URLPattern: Sendable {
    package static let bytesMax = 2048

    package let text: String
    private let pathname: PatternComponent
    private let search: PatternComponent

    /// Compiles a pattern, relative to the path of the URL that it came from.
    ///
    /// `origin` is that of the same URL (`https://example.com`); without it a whole URL is an error.
    package init(_ text: String, basePath: String = "/", origin: String? = nil) throws(PatternError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw PatternError(
                offset: Self.bytesMax, "a pattern that is too long; expected at most \(Self.bytesMax) bytes")
        }
        self.text = text
        let sources = try PatternSources(text, basePath: basePath, origin: origin)
        pathname = try PatternComponent(sources.pathname[...], of: .pathname)
        if let tokens = sources.search {
            search = try PatternComponent(tokens[...], of: .search)
        } else {
            search = .any
        }
    }

    /// Returns the same pattern as an absolute path, of which the meaning does not depend on the URL that it came from; nil if
    /// it is malformed, or for another origin.
    package static func absolute(_ text: String, basePath: String, origin: String) -> String? {
        guard let sources = try? PatternSources(text, basePath: basePath, origin: origin),
            (try? URLPattern(sources.absolute)) != nil
        else { return nil }
        return sources.absolute
    }

    /// Returns true if a pattern says what queries match, be it all.
    package static func namesQuery(_ text: String) -> Bool {
        (try? PatternSources(text, basePath: "/", origin: nil))?.search != nil
    }

    /// True if exactly one path matches, with any query or with one.
    package var isLiteral: Bool { pathname.isLiteral && (search.isAny || search.isLiteral) }

    /// The names of the groups; unnamed ones are numbered from 0, separately in path and query.
    package var groupNames: [String] { pathname.groupNames + search.groupNames }

    /// Returns a path and query that match, with these texts of the groups by name; optional parts occur once.
    package func example(_ value: (String) -> String) -> String {
        // A pattern with an origin has no sources here, and no example.
        guard let sources = try? PatternSources(text, basePath: "/", origin: nil) else { return "" }
        func written(_ tokens: [PatternToken], of component: PatternParser.Component) -> String {
            let parts = (try? PatternParser.parts(tokens[...], of: component)) ?? []
            return parts.map { part in
                let group = part.matcher == .fixedText ? "" : value(part.name)
                return String(decoding: part.prefix + group.utf8 + part.suffix, as: UTF8.self)
            }.joined()
        }
        return written(sources.pathname, of: .pathname)
            + (sources.search.map { "?" + written($0, of: .search) } ?? "")
    }

    /// Returns true if a URL of the origin matches; the query has no question mark.
    package func matches(path: String, query: String?) -> Bool {
        var budget = MatchBudget.unlimited
        return matches(path: path, query: query, within: &budget)
    }

    /// Returns true if a URL of the origin matches within the budget: for patterns from outside.
    package func matches(path: String, query: String?, within budget: inout MatchBudget) -> Bool {
        matches(path.utf8Bytes.span, query: query, within: &budget)
    }

    /// The fixed text at the start of every matching path, or a part of it.
    var fixedStart: [UInt8] { pathname.fixedStart }

    /// Returns true if this pattern obviously matches all that the other one does.
    ///
    /// It compares texts and fixed beginnings only, so false proves nothing.
    package func covers(_ other: URLPattern) -> Bool {
        text == other.text || search.isAny && pathname.covers(other.pathname)
    }

    /// Returns true if a URL of the origin matches, with its path given in bytes.
    func matches(_ path: Span<UInt8>, query: String?, within budget: inout MatchBudget) -> Bool {
        guard pathname.matches(path, within: &budget) else { return false }
        if search.isAny { return true }
        return search.matches((query ?? "").utf8Bytes.span, within: &budget)
    }

    /// Returns the texts of the groups by name; nil if the URL does not match.
    ///
    /// A name in the path hides the same name in the query. A group that took no part is left out.
    package func captures(path: String, query: String?) -> [String: Substring]? {
        let query = query ?? ""
        guard let inPath = pathname.captures(path.utf8Bytes.span),
            let inQuery = search.captures(query.utf8Bytes.span)
        else { return nil }
        var captures: [String: Substring] = [:]
        for (name, range) in inQuery { captures[name] = Self.part(range, of: query) }
        for (name, range) in inPath { captures[name] = Self.part(range, of: path) }
        return captures
    }

    private static func part(_ range: Range<Int>, of text: String) -> Substring {
        let lower = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
        return text[lower..<text.utf8.index(lower, offsetBy: range.count)]
    }

    /// Returns the text with all pattern syntax escaped, so that the pattern matches only itself.
    ///
    /// A colon is put in braces: behind a mere backslash the standard still takes it as the end of a scheme.
    package static func escaped(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: isSyntax) else { return String(text) }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: ":"): bytes += Array("{\\:}".utf8)
            case _ where isSyntax(byte): bytes += [UInt8(ascii: "\\"), byte]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text that `escaped` made the pattern of; another text if it did not make it.
    package static func unescaped(_ pattern: String) -> String {
        var bytes: [UInt8] = []
        var rest = pattern.utf8[...]
        while let byte = rest.first {
            if rest.starts(with: "{\\:}".utf8) {
                bytes.append(UInt8(ascii: ":"))
                rest = rest.dropFirst(4)
            } else {
                rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 1 : 0)
                if let next = rest.popFirst() { bytes.append(next) }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isSyntax(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"), UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "{"),
            UInt8(ascii: "}"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\\"):
            true
        default: false
        }
    }
}

package struct PatternError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The position in the pattern, in Unicode scalars from its beginning.
    package let offset: Int
    /// The error and the expected form.
    package let text: String

    package init(offset: Int, _ text: String) {
        self.offset = offset
        self.text = text
    }

    package var description: String { "at character \(offset + 1): \(text)" }
}
