internal import Glibc
internal import HTTP

/// The process's descriptor limit, and the share of it that clients may use.
///
/// Some descriptors are reserved for upstream connections and the store; without them the current clients would fail
/// together with new ones.
package enum DescriptorLimit {
    package static func raise() {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the calls.
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
    }

    /// Returns a warning if the configured limits exceed the system's, or nil.
    package static func shortage(of configuration: Configuration) -> String? {
        let wanted = configuration.limits.connections
        let possible = clientsMax(descriptors: current)
        guard possible < wanted else { return nil }
        return
            "limits.connections is \(wanted), but the descriptor limit (\(current)) allows only \(possible) clients: raise "
            + "LimitNOFILE in the unit, or ulimit -n"
    }

    /// Returns the number of clients that fit, each with an upstream connection, besides a reserve.
    static func clientsMax(descriptors: Int) -> Int {
        max(16, (descriptors - 64 - ConnectionCount.refusedMax) / 2)
    }

    static var current: Int {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the call.
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
