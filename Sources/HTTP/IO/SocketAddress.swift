internal import CLinux

// Addresses as the system has them.

extension IPAddress {
    init?(_ endpoint: CLinux_endpoint) {
        guard endpoint.family == 4 || endpoint.family == 6 else { return nil }
        let all = unsafe withUnsafeBytes(of: endpoint.ip) { unsafe [UInt8]($0) }
        self.init(bytes: endpoint.family == 4 ? [UInt8](all[..<4]) : all)
    }

    func endpoint(port: UInt16) -> CLinux_endpoint {
        var endpoint = CLinux_endpoint()
        endpoint.family = isIPv4 ? 4 : 6
        endpoint.port = port
        // Safe: 4 or 16 bytes into a field of 16.
        unsafe withUnsafeMutableBytes(of: &endpoint.ip) { unsafe $0.copyBytes(from: bytes) }
        return endpoint
    }
}

extension Endpoint {
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
