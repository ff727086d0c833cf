internal import Foundation
internal import HTTP

/// The URL of a fetch: `http` or `https`, with host, port, path and query taken apart.
struct FetchURL: Sendable, Hashable {
    /// Whether it is fetched by TLS.
    let isTLS: Bool
    /// The host; an IPv6 address without its brackets.
    let host: String
    let port: UInt16
    /// Host and port as the Host field has them: in lower case, without the scheme's own port.
    let authority: String
    /// The path as it was written, `/` if none was.
    let path: String
    /// What follows the first question mark, nil if there is none.
    let query: String?

    /// Reads a URL; without a scheme it is taken for http, and a fragment is dropped since it never reaches a server.
    init(_ text: String) throws(FetchError) {
        let written = text.prefix { $0 != "#" }
        isTLS = written.lowercased().hasPrefix("https://")
        let own: UInt16 = isTLS ? 443 : 80
        let whole = written.contains("://") ? String(written) : "http://\(written)"
        guard let target = try? RequestTarget(whole), let authority = target.authority,
            let (host, port) = Self.parts(of: authority), port != 0
        else { throw .notAURL(text) }
        self.host = host
        self.port = port ?? own
        self.authority = port == own ? String(authority.dropLast("\(own)".count + 1)) : authority
        path = target.path
        query = target.query
    }

    /// Reads a reference relative to another URL (RFC 3986 section 5); nil where that gives no URL of ours.
    init?(_ reference: String, relativeTo base: FetchURL) {
        let resolved = URL(string: reference, relativeTo: URL(string: base.text))
        guard let text = resolved?.absoluteString, let url = try? FetchURL(text) else { return nil }
        self = url
    }

    /// Scheme, host and port: what dictionaries are confined to (RFC 9842 section 2.1.1).
    var origin: String { "\(isTLS ? "https" : "http")://\(authority)" }

    /// Path and query as they are sent.
    var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }

    /// The whole URL.
    var text: String { origin + pathAndQuery }

    /// Takes apart an authority that is known to be valid.
    private static func parts(of authority: String) -> (host: String, port: UInt16?)? {
        let isLiteral = authority.hasPrefix("[")
        guard let end = isLiteral ? authority.firstIndex(of: "]") : authority.endIndex else { return nil }
        let colon = isLiteral ? authority[end...].firstIndex(of: ":") : authority.firstIndex(of: ":")
        let host = authority[..<(isLiteral ? end : colon ?? end)].drop { $0 == "[" }
        return (String(host), colon.flatMap { UInt16(authority[authority.index(after: $0)...]) })
    }
}
