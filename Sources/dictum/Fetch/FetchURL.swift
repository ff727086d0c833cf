internal import Dictionaries
internal import Foundation
internal import HTTP

/// The `http` or `https` URL of a fetch in its parts.
struct FetchURL: Sendable, Hashable {
    let isTLS: Bool
    /// The host; IPv6 addresses are without brackets.
    let host: String
    let port: UInt16
    /// The host and port as in the Host field: in lower case, without the default port.
    let authority: String
    /// The path as it was written, or `/` without one.
    let path: String
    /// The part after the first question mark; nil without one.
    let query: String?

    /// Parses a URL; the scheme defaults to http, and a fragment is dropped.
    init(_ text: String) throws(FetchError) {
        let written = text.prefix { $0 != "#" }
        isTLS = written.lowercased().hasPrefix("https://")
        let own: UInt16 = isTLS ? 443 : 80
        // A path or a query may have a URL of its own.
        let hasScheme = written.starts(with: /[^\/?]*:\/\//)
        let whole = hasScheme ? String(written) : "http://\(written)"
        guard let target = try? RequestTarget(whole), let authority = target.authority,
            let (host, port) = Self.parts(of: authority), port != 0
        else { throw .notAURL(text) }
        self.host = host
        self.port = port ?? own
        self.authority = port == own ? String(authority.dropLast("\(own)".count + 1)) : authority
        path = target.path
        query = target.query
    }

    /// Resolves a reference against another URL (RFC 3986 section 5); nil if the result is no http URL.
    init?(_ reference: String, relativeTo base: FetchURL) {
        let resolved = URL(string: reference, relativeTo: URL(string: base.text))
        guard let text = resolved?.absoluteString, let url = try? FetchURL(text) else { return nil }
        self = url
    }

    /// The scheme, host and port; dictionaries are confined to them (RFC 9842 section 2.1.1).
    var origin: String { "\(isTLS ? "https" : "http")://\(authority)" }

    /// The parts that dictionaries depend on.
    var target: TargetURI {
        TargetURI(isTLS: isTLS, host: host, port: Int(port), path: path, query: query)
    }

    var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }

    var text: String { origin + pathAndQuery }

    /// Resolves the host, and waits for that until `deadline`.
    func endpoints(until deadline: FetchDeadline) throws(FetchError) -> [Endpoint] {
        let found = AwaitedValue<[Endpoint]>()
        // The system's resolver cannot be interrupted: its thread ends by itself, or with the program.
        Thread.detachNewThread { [host, port] in found.give(Endpoint.resolve(host: host, port: port)) }
        guard let endpoints = deadline.wait(for: found) else { throw deadline.error }
        if endpoints.isEmpty { throw .unknownHost(host) }
        return endpoints
    }

    /// Splits an authority that is known to be valid.
    private static func parts(of authority: String) -> (host: String, port: UInt16?)? {
        let isLiteral = authority.hasPrefix("[")
        guard let end = isLiteral ? authority.firstIndex(of: "]") : authority.endIndex else { return nil }
        let colon = isLiteral ? authority[end...].firstIndex(of: ":") : authority.firstIndex(of: ":")
        let host = authority[..<(isLiteral ? end : colon ?? end)].drop { $0 == "[" }
        return (String(host), colon.flatMap { UInt16(authority[authority.index(after: $0)...]) })
    }
}
