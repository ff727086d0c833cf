package import HTTP

/// The URL of an upstream: `http://host:port`, `https://host:port` or `unix:/path`, with no path, query or user
/// information.
package struct UpstreamURL: Sendable, Equatable, CustomStringConvertible {
    package let scheme: UpstreamTarget.Scheme
    /// The address of the upstream; its port is by default that of the scheme.
    package let place: ConfiguredAddress

    /// Parses `http://host`, `http://host:port`, the same with https, each with an optional trailing slash, or
    /// `unix:/path`.
    init(_ text: String) throws(SettingFault) {
        if text.hasPrefix("unix:") {
            guard let socket = ConfiguredAddress(text) else {
                throw .unexpected(
                    because: "the path of a Unix socket must be absolute and at most 107 bytes long")
            }
            (scheme, place) = (.http, socket)
            return
        }
        let isTLS = text.lowercased().hasPrefix("https://")
        guard isTLS || text.lowercased().hasPrefix("http://") else { throw .unexpected() }
        let rest = text.dropFirst(isTLS ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let parts = HostAndPort(authority), parts.port != 0 else { throw .unexpected() }
        guard ["", "/"].contains(rest[authority.endIndex...]) else {
            throw .unexpected(because: "it has more than a host and a port")
        }
        scheme = isTLS ? .https : .http
        place = .tcp(host: parts.host, port: parts.port ?? (isTLS ? 443 : 80))
    }

    /// The host and port; `localhost` for a Unix socket.
    package var authority: String {
        switch place {
        case .tcp: place.description
        case .unix: "localhost"
        }
    }

    /// The URL without a trailing slash.
    package var description: String {
        switch place {
        case .tcp: "\(scheme.rawValue)://\(authority)"
        case .unix: place.description
        }
    }
}

extension SettingType where Value == UpstreamURL {
    static let upstreamURL = parsed(
        "a URL such as http://127.0.0.1:9000 or unix:/run/app.sock", write: { $0.description.inYAML },
        parse: { text throws(SettingFault) in try UpstreamURL(text) })
}
