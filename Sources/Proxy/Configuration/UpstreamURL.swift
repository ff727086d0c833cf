/// The URL of an upstream: `http://host:port`, with no path, query or user information.
package struct UpstreamURL: Sendable, Equatable, CustomStringConvertible {
    /// The host; an IPv6 address without its brackets.
    package let host: String
    /// The port, 80 if none was written.
    package let port: UInt16

    /// Why a text is no URL that Dictum can use as upstream.
    enum Mistake: Error, Equatable {
        case notAURL
        case notYet
        case hasMore
    }

    /// Reads `http://host`, `http://host:port`, with or without a slash at the end.
    init(_ text: String) throws(Mistake) {
        if text.lowercased().hasPrefix("https://") { throw .notYet }
        guard text.lowercased().hasPrefix("http://") else { throw .notAURL }
        let rest = text.dropFirst(7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let parts = HostAndPort(authority), parts.port != 0 else { throw .notAURL }
        guard ["", "/"].contains(rest[authority.endIndex...]) else { throw .hasMore }
        host = parts.host
        port = parts.port ?? 80
    }

    /// The scheme; TLS to the upstream comes later.
    package var scheme: String { "http" }

    /// The URL without a slash at the end.
    package var description: String {
        host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }
}
