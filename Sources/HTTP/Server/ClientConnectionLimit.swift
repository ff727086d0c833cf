/// How many connections one client may have, and who is one client.
package struct ClientConnectionLimit: Sendable {
    let countMax: Int
    let count: ClientConnectionCount
    let client: @Sendable (Endpoint?) -> UInt128?

    /// - Parameter client: the client as a number, nil for whom there is no limit.
    package init(
        countMax: Int, count: ClientConnectionCount, client: @escaping @Sendable (Endpoint?) -> UInt128?
    ) {
        self.countMax = countMax
        self.count = count
        self.client = client
    }
}

/// How many connections each client has, counted by all loops together.
package final class ClientConnectionCount: Sendable {
    private let counts = Guarded<[UInt128: Int]>([:])

    package init() {}

    /// How many clients have connections that are counted.
    package var clientCount: Int { counts.withLock { $0.count } }

    /// Counts one more of a client, unless it has `limit` already.
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
