/// The maximum number of connections per client.
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

/// The number of connections of each client, over all loops.
package final class ClientConnectionCount: Sendable {
    private let counts = Guarded<[UInt128: Int]>([:])

    package init() {}

    /// The number of clients with counted connections.
    package var clientCount: Int { counts.withLock { $0.count } }

    /// Counts one more connection of a client; returns false if it has `limit` already.
    func enter(_ client: UInt128, limit: Int) -> Bool {
        counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < limit else { return false }
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
