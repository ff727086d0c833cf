internal import HTTP

/// Finds upstreams that lead back to the proxy itself, before a request goes round in circles.
enum OwnUpstream {
    /// Throws where one of the upstreams is at an address where one of the listeners is.
    static func check(_ servers: [UpstreamServer], _ listeners: some Sequence<Endpoint>) throws(StartError) {
        for listener in listeners {
            for server in servers where leads(server.target.endpoint, to: listener) {
                throw .ownUpstream(server.text, listener: listener.text)
            }
        }
    }

    /// Returns true if connections to an address arrive at a listener of this machine.
    ///
    /// Addresses of other interfaces are left to `Via`: which they are changes while the proxy runs.
    static func leads(_ address: Endpoint, to listener: Endpoint) -> Bool {
        guard address != listener else { return true }
        guard case .ip(let ip, let port) = address, case .ip(let own, port: port) = listener,
            own.bytes.allSatisfy({ $0 == 0 })
        else { return false }
        // The wildcard of IPv6 takes IPv4, too.
        return (ip.isLoopback || ip.bytes.allSatisfy { $0 == 0 }) && (ip.isIPv4 || !own.isIPv4)
    }
}
