package import Dictionaries
internal import HTTP
package import Storage

/// Proves that bodies are public: clients of several addresses got the same bytes from impersonal requests.
///
/// Many APIs mark personal responses `public` by mistake. A body that three clients got alike is not personal.
/// `FairTable` bounds the memory.
package struct PublicProof: Sendable {
    package struct Key: Hashable, Sendable {
        private let body: Digest
        /// A seeded hash stands for the names, because clients choose their length.
        private let hash: Int

        package init(_ body: Digest, chain: ChainKey, variant: String) {
            self.body = body
            var hasher = Hasher()
            hasher.combine(chain)
            hasher.combine(variant)
            hash = hasher.finalize()
        }
    }

    /// A roaming user has two addresses in a day, but seldom three for the same bytes.
    static let clientsMin = 3
    /// About 65,536 bodies, 8 MiB.
    private static let bucketCount = 1024
    private static let slotCount = 64

    private var clients = FairTable<Key, [UInt128]>(buckets: bucketCount, slots: slotCount)

    package init() {}

    package func isProven(_ key: Key) -> Bool { clients[key].map { $0.count >= Self.clientsMin } ?? false }

    package mutating func record(_ key: Key, to client: UInt128) {
        clients.change(key, openedBy: client, fresh: []) { known in
            if known.count < Self.clientsMin, !known.contains(client) { known.append(client) }
        }
    }
}

/// Detects that all clients seem to have one address, which then probably belongs to a balancer.
struct SoleClient: Sendable {
    /// Fewer responses or less time may be one busy client.
    private static let countMin = 100
    private static let secondsMin = 60
    private static let reminderSeconds = 3600

    private var client: LinkClient?
    private var count = 0
    private var begunAt = 0
    private var saidAt: Int?

    /// Records a response; returns true, once an hour, if the client may be a balancer.
    mutating func record(_ client: LinkClient, now: Int) -> Bool {
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

/// A client's identity for proofs and counts: its IPv4 address, or the /48 of its IPv6 address.
struct LinkClient: Sendable, Equatable {
    /// The address, or nil if a trusted peer forwards for an unnamed client.
    let address: UInt128?
    /// True if a trusted peer has named the client; false for a peer that may be a balancer.
    let isNamed: Bool
}

extension ClientPeer {
    /// Returns the client of a request on this connection.
    ///
    /// Several proxies of the operator that name no client do not count as several clients. Among trusted peers only a
    /// local one counts as a client.
    func linkClient(_ headers: borrowing Headers) -> LinkClient {
        let bits = { (address: IPAddress) in address.clientBits() }
        guard isTrusted else { return LinkClient(address: address.map(bits), isNamed: false) }
        if let named = clientAddressForLimits(headers) {
            return LinkClient(address: bits(named), isNamed: true)
        }
        guard let address, address.isLoopback else { return LinkClient(address: nil, isNamed: false) }
        return LinkClient(address: bits(address), isNamed: false)
    }
}
