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

/// The host and port of an authority (RFC 3986 section 3.2), without user information.
struct HostAndPort {
    /// The host; IPv6 addresses are without brackets.
    let host: String
    /// The port; nil without one.
    let port: UInt16?

    /// Parses `host`, `host:port`, `[v6]` or `[v6]:port`.
    init?(_ text: some StringProtocol) {
        let name: Substring
        let tail: Substring
        let text = Substring(text)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            tail = text[text.index(after: end)...]
            guard name.contains(":"), IPAddress(String(name)) != nil else { return nil }
        } else {
            name = text.prefix { $0 != ":" }
            tail = text[name.endIndex...]
            guard Self.isName(name) else { return nil }
        }
        guard tail.isEmpty || tail.first == ":" else { return nil }
        let digits = tail.dropFirst()
        guard tail.isEmpty == digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }) else {
            return nil
        }
        port = UInt16(digits)
        guard digits.isEmpty || port != nil else { return nil }
        host = String(name)
    }

    /// Returns true for IPv4 addresses and possible host names (RFC 1123 section 2.1, and `_`).
    private static func isName(_ text: Substring) -> Bool {
        let looksNumeric = text.unicodeScalars.allSatisfy { $0 == "." || "0"..."9" ~= $0 }
        if looksNumeric { return IPAddress(String(text)) != nil }
        return text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.unicodeScalars.allSatisfy {
                        $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) || $0 == "-"
                            || $0 == "_"
                    }
            }
    }
}

extension SettingType where Value == ConfiguredAddress {
    static let listenAddress = scalar(
        "an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/dictum.sock",
        write: { String(describing: $0).inYAML }, read: { ConfiguredAddress($0) })
}
