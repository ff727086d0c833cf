internal import Primitives
internal import Synchronization

/// The number of open client connections, over all loops.
package final class ConnectionCount: Sendable {
    /// The maximum number of refused connections at a time that get a response.
    ///
    /// Further ones are closed at once, so that they take no descriptors from served clients.
    package static let refusedMax = 32

    private let value = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    package init() {}

    package var current: Int { value.load(ordering: .relaxed) }

    /// Counts one more connection; returns false if there are `limit` already.
    func enter(limit: Int) -> Bool {
        if value.add(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() {
        value.subtract(1, ordering: .relaxed)
    }

    /// Counts one more refusal with a response; returns false if there are too many.
    func enterRefused() -> Bool {
        if refused.add(1, ordering: .relaxed).newValue <= Self.refusedMax { return true }
        leaveRefused()
        return false
    }

    func leaveRefused() {
        refused.subtract(1, ordering: .relaxed)
    }
}

/// The maximum number of connections per client, besides its share of all connections.
package struct ClientConnectionLimit: Sendable {
    let countMax: Int
    let count: ClientConnectionCount
    let client: @Sendable (Endpoint?) -> UInt128?

    /// - Parameter client: returns the client's identity; nil for clients without a limit.
    package init(
        countMax: Int, count: ClientConnectionCount, client: @escaping @Sendable (Endpoint?) -> UInt128?
    ) {
        self.countMax = countMax
        self.count = count
        self.client = client
    }
}

package final class ClientConnectionCount: Sendable {
    private let counts = Guarded<[UInt128: Int]>([:])

    package init() {}

    package var clientCount: Int { counts.withLock { $0.count } }

    /// Counts one more connection of a client; returns false if it has `limit` already, or its share of those that are free.
    ///
    /// A client leaves as many to all others as it has.
    func enter(_ client: UInt128, limit: Int, free: Int) -> Bool {
        counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < limit, FairShare.permits(1, having: count, free: free) else { return false }
            counts[client] = count + 1
            return true
        }
    }

    func leave(_ client: UInt128) {
        counts.withLock { counts in
            let count = counts[client, default: 0]
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}
