/// The URL of an upstream: `http://host:port` or `https://host:port`, with no path, query or user information.
package struct UpstreamURL: Sendable, Equatable, CustomStringConvertible {
    /// The host; an IPv6 address without its brackets.
    package let host: String
    /// Whether it is spoken to by TLS.
    package let isTLS: Bool
    /// The port, that of the scheme if none was written.
    package let port: UInt16

    /// Why a text is no URL that Dictum can use as upstream.
    enum Mistake: Error, Equatable {
        case notAURL
        case hasMore
    }

    /// Reads `http://host`, `http://host:port`, the same with https, with or without a slash at the end.
    init(_ text: String) throws(Mistake) {
        isTLS = text.lowercased().hasPrefix("https://")
        guard isTLS || text.lowercased().hasPrefix("http://") else { throw .notAURL }
        let rest = text.dropFirst(isTLS ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let parts = HostAndPort(authority), parts.port != 0 else { throw .notAURL }
        guard ["", "/"].contains(rest[authority.endIndex...]) else { throw .hasMore }
        host = parts.host
        port = parts.port ?? (isTLS ? 443 : 80)
    }

    /// The scheme.
    package var scheme: String { isTLS ? "https" : "http" }

    /// The URL without a slash at the end.
    package var description: String {
        host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}
