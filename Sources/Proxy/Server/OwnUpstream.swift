internal import HTTP

/// Detects upstreams that lead back to the proxy's own listeners.
enum OwnUpstream {
    /// Throws if an upstream has the address of a listener.
    static func check(_ servers: [UpstreamServer], _ listeners: some Sequence<Endpoint>) throws(StartError) {
        for listener in listeners {
            for server in servers where server.target.endpoint.leads(to: listener) {
                throw .ownUpstream(server.text, listener: listener.text)
            }
        }
    }
}
