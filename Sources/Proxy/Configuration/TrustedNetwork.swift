package import HTTP

/// Peers whose statements about the client are trusted, in X-Forwarded-For for example.
package enum TrustedNetwork: Sendable, Equatable {
    /// 127.0.0.0/8 and ::1.
    case loopback
    /// Every peer on a Unix socket.
    case unix
    /// The addresses that share the first `prefix` bits of `address`.
    case block(address: IPAddress, prefix: Int)

    /// Parses `loopback`, `unix`, an address, or a CIDR block such as `10.0.0.0/8` (RFC 4632 section 3.1).
    package init?(_ text: String) {
        switch text {
        case "loopback": self = .loopback
        case "unix": self = .unix
        default:
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
            let width = address.isIPv4 ? 32 : 128
            guard parts.count == 2 else {
                self = .block(address: address, prefix: width)
                return
            }
            // The prefix of an IPv4-mapped address would count differently, so it must be written as IPv4.
            guard let prefix = Quantity.count.value(of: String(parts[1]), in: 0...width),
                !(address.isIPv4 && first.contains(":"))
            else { return nil }
            self = .block(address: address, prefix: prefix)
        }
    }

    package func contains(_ address: IPAddress) -> Bool {
        switch self {
        case .unix: return false
        case .loopback: return address.isIPv4 ? address.bits >> 24 == 127 : address.bits == 1
        case .block(let network, let prefix):
            let width = network.isIPv4 ? 32 : 128
            return network.isIPv4 == address.isIPv4 && (network.bits ^ address.bits) >> (width - prefix) == 0
        }
    }
}

extension [TrustedNetwork] {
    package func contains(_ address: IPAddress) -> Bool { contains { $0.contains(address) } }

    /// Returns true for peers of any of the networks; false for an unknown peer.
    package func contains(_ peer: Endpoint?) -> Bool {
        switch peer {
        case .ip(let address, _)?: contains(address)
        case .unix?: contains(TrustedNetwork.unix)
        case nil: false
        }
    }
}

extension SettingType where Value == TrustedNetwork {
    static let network = scalar(
        "loopback, unix, an address, or a block such as 10.0.0.0/8", write: { $0.text },
        read: { TrustedNetwork($0) })
}

extension TrustedNetwork {
    fileprivate var text: String {
        switch self {
        case .loopback: "loopback"
        case .unix: "unix"
        case .block(let address, let prefix): "\(address.text)/\(prefix)".inYAML
        }
    }
}
