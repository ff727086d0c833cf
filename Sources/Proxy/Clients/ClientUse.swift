internal import Primitives

/// The use that one client makes of shared resources, over all its connections.
///
/// Safe from any thread. Connections and requests hold it; it is forgotten with the last of them. A connection of a trusted
/// peer that names no client counts as a client of its own.
final class ClientUse: Sendable {
    /// True if the client is known, so that the limits of `limits.client` apply to it.
    let isKnown: Bool
    let requests = FairHolding()
    /// The requests that wait for a place.
    let waiting = FairHolding()
    /// The bytes of bodies and encoders.
    let memory = FairHolding()
    /// The bytes of bodies on their way into the store.
    let copies = FairHolding()
    /// The bytes of bodies that wait for the compression pool.
    let coding = FairHolding()

    init(isKnown: Bool = true) { self.isKnown = isKnown }

    /// True if so many requests are under way that others would notice if a loop coded their responses; a browser has six
    /// over HTTP/1.1.
    var isCrowded: Bool { requests.amount > 8 }

    /// The requests at each upstream that has a maximum of its own.
    private let places = Guarded<[ObjectIdentifier: Int]>([:])

    func requests(at upstream: ObjectIdentifier) -> Int { places.withLock { $0[upstream] ?? 0 } }

    func enter(_ upstream: ObjectIdentifier) { places.withLock { $0[upstream, default: 0] += 1 } }

    func leave(_ upstream: ObjectIdentifier) {
        places.withLock { places in
            guard let count = places[upstream] else { return }
            places[upstream] = count > 1 ? count - 1 : nil
        }
    }
}

/// The use of every connected client, by its network.
///
/// Bounded by the connections and requests that hold them. Safe from any thread.
final class ClientUses: Sendable {
    private struct Entry: Sendable {
        weak let use: ClientUse?
    }

    /// The parts have a lock each, so that loops seldom contend.
    private static let partCount = 16
    private let parts: [Guarded<[UInt128: Entry]>]

    init() {
        parts = (0..<Self.partCount).map { _ in Guarded([:]) }
    }

    /// Returns the use of a client, the same object as long as anybody holds it.
    func use(of client: UInt128) -> ClientUse {
        part(of: client).withLock { entries in
            if let known = entries[client]?.use { return known }
            // The entries of clients that have gone are removed before the table grows.
            if entries.count >= 64, entries.count == entries.capacity {
                entries = entries.filter { $0.value.use != nil }
            }
            let use = ClientUse()
            entries[client] = Entry(use: use)
            return use
        }
    }

    /// The number of clients that somebody holds.
    var count: Int {
        parts.reduce(0) { sum, part in
            sum + part.withLock { entries in entries.values.count { $0.use != nil } }
        }
    }

    private func part(of client: UInt128) -> Guarded<[UInt128: Entry]> {
        // Swift seeds its hashes per process, so that clients cannot choose addresses by part.
        parts[Int(UInt(bitPattern: client.hashValue) % UInt(Self.partCount))]
    }
}

/// The shared resources: the memory budget of bodies and encoders, and the use of each client.
struct ClientResources: Sendable {
    let uses = ClientUses()
    let memory: MemoryBudget
}

/// The share of one client over one connection; safe from any thread.
final class ClientShare: Sendable {
    let client: UInt128?
    /// The use of the client over all its connections; that of the connection if the client is unknown.
    let use: ClientUse
    let memory: MemoryShare

    init(_ client: UInt128?, of resources: ClientResources, connection: ClientUse) {
        self.client = client
        use = client.map(resources.uses.use(of:)) ?? connection
        memory = MemoryShare(of: resources.memory, connection: connection, client: use)
    }
}
