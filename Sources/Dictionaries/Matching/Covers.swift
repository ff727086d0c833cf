/// The requests that a response is a dictionary for: the setting `covers` of a route.
package enum Covers: Sendable {
    /// Its own path, with any query.
    case path
    /// Its own path, with any query that names the same operation.
    case operation(OperationKey)
    /// Its own path and query.
    case url
    /// All that the route's pattern matches.
    case pattern
    /// A template, filled with the groups of the route's match.
    case template(Template)

    /// Reads the setting for a route whose match has these groups, which a template may name.
    package init(
        _ text: String, groupNames: [String], key: OperationKey = OperationKey([])
    ) throws(PatternError) {
        switch text {
        case "path": self = key.paths.isEmpty ? .path : .operation(key)
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
    package func matchValue(for url: PathAndQuery, route: @autoclosure () -> URLPattern?) -> String? {
        let path = url.path
        // A client would resolve a path that is not in normal form, and the match would be for another path.
        guard NormalPath.isNormal(path) else { return nil }
        switch self {
        case .path:
            guard Self.isExpressible(path[...], isPath: true) else { return nil }
            return Self.bounded(URLPattern.escaped(path))
        case .operation(let key):
            let parts = key.parts(of: url.query)
            guard Self.isExpressible(path[...], isPath: true),
                parts.allSatisfy({ Self.isExpressible($0, isPath: false) })
            else { return nil }
            if parts.isEmpty { return Self.bounded(URLPattern.escaped(path)) }
            let query = parts.map { URLPattern.escaped($0) }.joined(separator: "&" + Self.anyBefore)
            return Self.bounded(
                URLPattern.escaped(path) + Self.separator(after: path) + Self.anyBefore + query
                    + Self.anyAfter)
        case .url:
            let query = url.query ?? ""
            guard Self.isExpressible(path[...], isPath: true), Self.isExpressible(query[...], isPath: false)
            else { return nil }
            return Self.bounded(
                URLPattern.escaped(path) + Self.separator(after: path) + URLPattern.escaped(query))
        case .pattern: return route()?.text
        case .template(let template):
            return route()?.captures(path: path, query: url.query).flatMap(template.filled)
        }
    }

    // Parts of a query that an operation does not need; escaped text contains neither.
    private static let anyBefore = "{*&}?"
    private static let anyAfter = "{&*}?"

    /// Returns the question mark behind an escaped path.
    private static func separator(after path: String) -> String {
        // An escaped colon ends in a brace, and a bare question mark behind it would make the colon optional.
        path.utf8.last == UInt8(ascii: ":") ? "\\?" : "?"
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
