internal import Glibc
internal import HTTP

/// How many descriptors this process may have, and what part of them clients get.
///
/// Clients never take the last: where none is left to connect to the upstream or to read the store, those who are served
/// already would fail with those who come.
package enum DescriptorLimit {
    /// Takes what the system allows, instead of what a program begins with.
    package static func raise() {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the calls.
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
    }

    /// What to tell an operator whose limits are beyond the system's; nil where they are not.
    package static func shortage(of configuration: Configuration) -> String? {
        let wanted = configuration.limits.connections
        let possible = clientsMax(descriptors: current)
        guard possible < wanted else { return nil }
        return
            "limits.connections is \(wanted), but \(current) descriptors do for \(possible) clients only: raise "
            + "LimitNOFILE in the unit, or ulimit -n"
    }

    /// How many clients may connect, each with a connection to the upstream, and something left for all else.
    static func clientsMax(descriptors: Int) -> Int {
        max(16, (descriptors - 64 - ConnectionCount.refusedMax) / 2)
    }

    /// How many the process may have now.
    static var current: Int {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the call.
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
