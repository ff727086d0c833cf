/// The requests that a response is a dictionary for: the setting `covers` of a route.
package enum Covers: Sendable {
    /// Its own path, with any query.
    case path
    /// Its own path and query.
    case url
    /// All that the route's pattern matches.
    case pattern
    /// A template, filled with the groups of the route's match.
    case template(Template)

    /// Reads the setting for a route whose match has these groups, which a template may name.
    package init(_ text: String, groupNames: [String]) throws(PatternError) {
        switch text {
        case "path": self = .path
        case "url": self = .url
        case "pattern": self = .pattern
        default:
            guard text.hasPrefix("/") else {
                throw PatternError(
                    offset: 0, "\(text); expected path, url, pattern, or a template that begins with /")
            }
            self = .template(try Template(text, groupNames: groupNames))
        }
    }

    /// Returns the `match` to send with a response; nil if it cannot be expressed.
    ///
    /// `route`, the pattern of the route that matches the URL, is evaluated only for `pattern` and for templates.
    /// `captures` are needed only for templates, and are computed if they are nil.
    package func matchValue(
        for url: PathAndQuery, route: @autoclosure () -> URLPattern?, captures: [String: Substring]? = nil
    ) -> String? {
        let path = url.path
        // A client would resolve a path that is not in normal form, and the match would be for another path.
        guard NormalPath.isNormal(path) else { return nil }
        switch self {
        case .path:
            guard Self.isExpressible(path[...], isPath: true) else { return nil }
            return Self.bounded(URLPattern.escaped(path))
        case .url:
            let query = url.query ?? ""
            guard Self.isExpressible(path[...], isPath: true), Self.isExpressible(query[...], isPath: false)
            else {
                return nil
            }
            // An escaped colon ends in a brace, and a bare question mark behind it would make the colon optional.
            let separator = path.utf8.last == UInt8(ascii: ":") ? "\\?" : "?"
            return Self.bounded(URLPattern.escaped(path) + separator + URLPattern.escaped(query))
        case .pattern: return route()?.text
        case .template(let template):
            return (captures ?? route()?.captures(path: path, query: url.query)).flatMap(template.filled)
        }
    }

    /// Returns true if `matchValue` may have made this match for a URL that the route's pattern matches.
    ///
    /// This is exact except for templates, where only the text between the placeholders is compared.
    package func mayMake(_ match: String, route: URLPattern) -> Bool {
        switch self {
        case .path:
            let url = PathAndQuery(path: URLPattern.unescaped(match))
            return matchValue(for: url, route: route) == match && route.matches(path: url.path)
        case .url:
            // No path contains a question mark, escaped or not.
            let url = PathAndQuery(URLPattern.unescaped(match))
            return url.query != nil && matchValue(for: url, route: route) == match
                && route.matches(path: url.path, query: url.query)
        case .pattern: return match == route.text
        case .template(let template): return template.mayFill(match)
        }
    }

    private static func bounded(_ match: String) -> String? {
        match.utf8.count <= URLPattern.bytesMax ? match : nil
    }

    /// Returns true if a pattern can express the text: a byte that URLs encode would be encoded in the pattern, and
    /// not match.
    static func isExpressible(_ text: Substring, isPath: Bool) -> Bool {
        text.utf8.allSatisfy {
            isPath ? !CanonicalText.isEncodedInPath($0) : !CanonicalText.isEncodedInQuery($0)
        }
    }
}
