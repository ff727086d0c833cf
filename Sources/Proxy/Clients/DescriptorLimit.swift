internal import Glibc
internal import HTTP

/// The process's descriptor limit, and its shares: of clients, of requests at upstreams, and of idle upstream connections.
///
/// The rest is reserved for the store, the log, the listeners and refused clients. The shares together never exceed the
/// limit, so that accepting always finds a descriptor.
package enum DescriptorLimit {
    package static func raise() {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the calls.
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
    }

    /// Returns a warning if the configured limits exceed the system's, or nil.
    ///
    /// The default number of clients is no wish: where it does not fit, fewer are enough, unless they are very few.
    package static func shortage(of configuration: Configuration, descriptors: Int = current) -> String? {
        let wanted = configuration.limits.connections
        let possible = clientsMax(descriptors: descriptors)
        let isDefault = wanted == Configuration.Limits().connections
        guard possible < (isDefault ? enoughClients : wanted) else { return nil }
        return
            "limits.connections is \(wanted), but the descriptor limit (\(descriptors)) allows only \(possible) clients: raise "
            + "LimitNOFILE in the unit, or ulimit -n"
    }

    /// So many clients are enough for a configuration that names no number.
    private static let enoughClients = 1000

    /// The descriptors of the store, the log, health checks, the admin page and refused clients, and for each processor those
    /// of a loop: its events, its listeners, its connections to Redis.
    static let reserve =
        64 + 64 + ConnectionCount.refusedMax + 8 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Returns the number of clients that fit: at most half of the descriptors, since each may need an upstream connection.
    static func clientsMax(descriptors: Int) -> Int {
        max(16, (descriptors - reserve) / 2)
    }

    /// The connections to upstreams that fit beside the clients.
    struct UpstreamShare: Equatable, Sendable {
        /// The connections with a request.
        let requests: Int
        /// The connections that are kept for later requests.
        let idle: Int
    }

    static func upstreamShare(descriptors: Int, clients: Int) -> UpstreamShare {
        let left = max(16, descriptors - reserve - min(clients, clientsMax(descriptors: descriptors)))
        return UpstreamShare(requests: left - left / 4, idle: left / 4)
    }

    static func upstreamShare(of configuration: Configuration) -> UpstreamShare {
        upstreamShare(descriptors: current, clients: configuration.limits.connections)
    }

    static var current: Int {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the call.
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
