internal import CLinux

/// The address of a socket: an IP address with a port, or the path of a Unix socket.
package enum Endpoint: Sendable, Hashable {
    case ip(IPAddress, port: UInt16)
    case unix(path: String)

    /// The endpoint as in a URL or a log line.
    package var text: String {
        switch self {
        case .ip(let address, let port):
            address.isIPv4 ? "\(address.text):\(port)" : "[\(address.text)]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The URL of the endpoint.
    package var urlText: String {
        switch self {
        case .ip: "http://\(text)"
        case .unix: text
        }
    }

    /// Returns the addresses of `host`, best first; empty if it has none.
    ///
    /// Blocks, so never call it on a loop.
    package static func resolve(host: String, port: UInt16) -> [Endpoint] {
        var found = [CLinux_endpoint](repeating: CLinux_endpoint(), count: 16)
        // Safe: the callee writes at most the capacity it is given.
        let count = unsafe found.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return Int32(-1) }
            return unsafe CLinux_resolve(host, port, base, Int32(buffer.count))
        }
        return found.prefix(max(0, Int(count))).compactMap { IPAddress($0).map { .ip($0, port: port) } }
    }
}
