internal import HTTP

/// Detects upstreams that lead back to the proxy's own listeners.
enum OwnUpstream {
    /// Throws if an upstream has the address of a listener.
    static func check(_ servers: [UpstreamServer], _ listeners: some Sequence<Endpoint>) throws(StartError) {
        for listener in listeners {
            for server in servers where leads(server.target.endpoint, to: listener) {
                throw .ownUpstream(server.text, listener: listener.text)
            }
        }
    }

    /// Returns true if connections to an address arrive at a listener of this machine.
    ///
    /// `Via` detects loops through other interfaces, whose addresses change while the proxy runs.
    static func leads(_ address: Endpoint, to listener: Endpoint) -> Bool {
        guard address != listener else { return true }
        guard case .ip(let ip, let port) = address, case .ip(let own, port: port) = listener,
            own.bytes.allSatisfy({ $0 == 0 })
        else { return false }
        // The IPv6 wildcard also accepts IPv4.
        return (ip.isLoopback || ip.bytes.allSatisfy { $0 == 0 }) && (ip.isIPv4 || !own.isIPv4)
    }
}
