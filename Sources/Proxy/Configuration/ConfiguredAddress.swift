internal import HTTP

package enum ConfiguredAddress: Sendable, Hashable, CustomStringConvertible {
    /// A host (an IPv4 address, an IPv6 address without brackets, or a name) and a port; 0 stands for any free
    /// port of a listener.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    /// Parses `host:port`, `[::1]:port`, `unix:/path`, or `:port`, which stands for all IPv4 addresses.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = text.dropFirst(5)
            // sun_path has 108 bytes including the NUL (unix(7)).
            guard path.hasPrefix("/"), path.utf8.count <= 107, !path.contains("\0") else { return nil }
            self = .unix(path: String(path))
            return
        }
        guard let authority = HostAndPort(text.hasPrefix(":") ? "0.0.0.0" + text : text),
            let port = authority.port
        else { return nil }
        self = .tcp(host: authority.host, port: port)
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// True unless a listener there surely serves this machine alone.
    var mayBeRemote: Bool {
        guard case .tcp(let host, _) = self else { return false }
        return host.lowercased() != "localhost" && IPAddress(host)?.isLoopback != true
    }

    /// The addresses that it stands for, best first; resolving a name blocks.
    var endpoints: [Endpoint] {
        switch self {
        case .tcp(let host, let port): Endpoint.resolve(host: host, port: port)
        case .unix(let path): [.unix(path: path)]
        }
    }
}

extension SettingType where Value == ConfiguredAddress {
    static let listenAddress = scalar(
        "an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/dictum.sock",
        write: { String(describing: $0).inYAML }, read: { ConfiguredAddress($0) })
}
