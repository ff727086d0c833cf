package import HTTP

/// The URL of an upstream: `http://host:port`, `https://host:port` or `unix:/path`, with no path, query or user
/// information.
package struct UpstreamURL: Sendable, Equatable, CustomStringConvertible {
    /// Where it leads.
    package enum Place: Sendable, Equatable {
        /// A host, an IPv6 address without its brackets, and a port, that of the scheme if none was written.
        case host(String, port: UInt16)
        /// The path of a Unix socket.
        case unix(path: String)
    }

    /// What is spoken there.
    package let scheme: UpstreamTarget.Scheme
    /// Where it leads.
    package let place: Place

    /// Why a text is no URL that Dictum can use as upstream.
    enum Mistake: Error, Equatable {
        case notAURL
        case hasMore
        case badPath
    }

    /// Reads `http://host`, `http://host:port`, the same with https, with or without a slash at the end, or
    /// `unix:/path`.
    init(_ text: String) throws(Mistake) {
        if text.hasPrefix("unix:") {
            guard case .unix(let path)? = ListenAddress(text) else { throw .badPath }
            (scheme, place) = (.http, .unix(path: path))
            return
        }
        let isTLS = text.lowercased().hasPrefix("https://")
        guard isTLS || text.lowercased().hasPrefix("http://") else { throw .notAURL }
        let rest = text.dropFirst(isTLS ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let parts = HostAndPort(authority), parts.port != 0 else { throw .notAURL }
        guard ["", "/"].contains(rest[authority.endIndex...]) else { throw .hasMore }
        scheme = isTLS ? .https : .http
        place = .host(parts.host, port: parts.port ?? (isTLS ? 443 : 80))
    }

    /// The host and the port; for a Unix socket, which has none, `localhost`.
    package var authority: String {
        switch place {
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix: "localhost"
        }
    }

    /// The URL without a slash at the end.
    package var description: String {
        switch place {
        case .host: "\(scheme.rawValue)://\(authority)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
