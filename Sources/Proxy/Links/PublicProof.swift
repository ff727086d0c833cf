package import Dictionaries

/// The bodies that went to clients of several addresses, byte for byte the same, in requests that say nothing of their user.
///
/// A response that says `public` may still be one user's own, because many APIs say so by mistake. A body that three clients
/// got alike is nobody's own. Memory is fixed: see `FairTable`.
package struct PublicProof: Sendable {
    /// A body in a variant of a chain.
    package struct Key: Hashable, Sendable {
        private let body: Digest
        /// A hash with a seed of the process stands for the names, whose length clients choose.
        private let place: Int

        package init(_ body: Digest, chain: ChainKey, variant: String) {
            self.body = body
            var hasher = Hasher()
            hasher.combine(chain)
            hasher.combine(variant)
            place = hasher.finalize()
        }
    }

    /// Three addresses: a user who roams has two in a day, and seldom three for the same bytes.
    static let clientsMin = 3
    /// About 65,536 bodies, 8 MiB.
    private static let bucketCount = 1024
    private static let slotCount = 64

    private var clients = FairTable<Key, [UInt128]>(buckets: bucketCount, slots: slotCount)

    package init() {}

    /// The number of bodies that it knows.
    var count: Int { clients.count }

    /// Returns true if the body has gone to enough clients.
    package func isProven(_ key: Key) -> Bool { clients[key].map { $0.count >= Self.clientsMin } ?? false }

    /// Notes that a body went to a client.
    package mutating func note(_ key: Key, to client: UInt128) {
        clients.change(key, openedBy: client, fresh: []) { known in
            if known.count < Self.clientsMin, !known.contains(client) { known.append(client) }
        }
    }
}

/// Notices that all clients seem to have one address, which then is likely a balancer's.
struct SoleClient: Sendable {
    /// Fewer responses, or a shorter time, may be one busy client.
    private static let countMin = 100
    private static let secondsMin = 60
    private static let reminderSeconds = 3600

    private var client: LinkClient?
    private var count = 0
    private var begunAt = 0
    private var saidAt: Int?

    init() {}

    /// Notes a response that could be a proof; true if it is time to ask about its client, once an hour.
    mutating func note(_ client: LinkClient, now: Int) -> Bool {
        guard client == self.client, !client.isNamed else {
            (self.client, count, begunAt) = (client, 1, now)
            return false
        }
        count += 1
        guard count >= Self.countMin, now - begunAt >= Self.secondsMin,
            saidAt.map({ now - $0 >= Self.reminderSeconds }) ?? true
        else { return false }
        saidAt = now
        return true
    }
}
