/// The deltas that were made, within a budget of memory, and those that are being made.
///
/// Safe from any thread, and nobody ever waits in it: whoever asks for a delta that another makes is called back.
package final class DeltaCache: Sendable {
    /// Called once, by the thread that made the delta or gave it up.
    package typealias Waiter = @Sendable (DeltaOutcome) -> Void

    private struct Entry {
        /// Nil where the delta would be no shorter than the body.
        var coded: [UInt8]?
        var peers = DeltaPeers()
        /// Whether it is as strong as it gets, or about to be.
        var isStrongest = false

        var outcome: DeltaOutcome { coded.map { .coded($0) } ?? .notShorter }
    }

    private struct Shelf {
        var entries: RecencyMap<DeltaKey, Entry>
        var flights: [DeltaKey: [Waiter]] = [:]
        var statistics = DeltaCacheStatistics()

        mutating func find(_ key: DeltaKey) -> DeltaHit? {
            guard let entry = entries.value(key) else { return nil }
            statistics.hits += 1
            return DeltaHit(outcome: entry.outcome, wantsPeers: !entry.isStrongest && entry.coded != nil)
        }

        mutating func keep(_ entry: Entry, _ key: DeltaKey) {
            // An array has a header of 32 bytes, and what the allocator adds.
            let bytes = (entry.coded?.capacity ?? 0) + 48 + key.scope.memoryBytes
            _ = entries.insert(entry, bytes: bytes, for: key)
        }
    }

    private let shelf: Guarded<Shelf>

    /// An empty cache; `bytesMax` counts the deltas and what it takes to find them.
    package init(bytesMax: Int) {
        shelf = Guarded(Shelf(entries: RecencyMap(bytesMax: bytesMax)))
    }

    /// What it holds and has done.
    package var statistics: DeltaCacheStatistics {
        shelf.withLock { shelf in
            var statistics = shelf.statistics
            statistics.bytes = shelf.entries.bytes
            statistics.count = shelf.entries.count
            statistics.evictions = shelf.entries.evictions
            return statistics
        }
    }

    /// The delta if it was made before.
    package func find(_ key: DeltaKey) -> DeltaHit? {
        shelf.withLock { $0.find(key) }
    }

    /// The delta if it was made before, or a place among those who wait for it, or the turn to make it.
    package func join(_ key: DeltaKey, _ waiter: () -> Waiter) -> DeltaJoin {
        shelf.withLock { shelf in
            if let hit = shelf.find(key) { return .hit(hit) }
            if shelf.flights[key] != nil {
                shelf.flights[key]?.append(waiter())
                shelf.statistics.shared += 1
                return .waiting
            }
            shelf.flights[key] = []
            shelf.statistics.misses += 1
            return .lead(DeltaTurn(key, of: self))
        }
    }

    /// Notes who asked for a delta; true once, when three different addresses have: it is worth the strongest coding.
    package func note(peer: UInt128, of key: DeltaKey) -> Bool {
        shelf.withLock { shelf in
            shelf.entries.update(key) { entry in
                guard !entry.isStrongest, entry.coded != nil, entry.peers.add(peer) else { return false }
                entry.isStrongest = true
                return true
            } ?? false
        }
    }

    /// Takes back that a delta is about to be coded at its strongest: the next client may ask for that again.
    package func dropStrongest(_ key: DeltaKey) {
        shelf.withLock { shelf in _ = shelf.entries.update(key) { $0.isStrongest = false } }
    }

    /// The length of a delta that is there and shorter than its body.
    func codedBytes(_ key: DeltaKey) -> Int? {
        shelf.withLock { shelf in shelf.entries.update(key) { $0.coded?.count } ?? nil }
    }

    /// Puts a verified delta in the place of a longer one; false, and nothing changed, where there is none.
    func replace(_ key: DeltaKey, with coded: [UInt8]) -> Bool {
        let coded = Self.compact(coded)
        return shelf.withLock { shelf in
            guard var entry = shelf.entries.value(key), let former = entry.coded, coded.count < former.count
            else { return false }
            entry.coded = coded
            shelf.keep(entry, key)
            return true
        }
    }

    /// Ends a flight: what can be used again is kept, and all who wait are told.
    func land(_ key: DeltaKey, _ outcome: DeltaOutcome) {
        let entry: Entry? =
            switch outcome {
            case .coded(let bytes): Entry(coded: Self.compact(bytes))
            case .notShorter: Entry(coded: nil)
            case .failed: nil
            }
        let waiters = shelf.withLock { shelf in
            if let entry { shelf.keep(entry, key) }
            return shelf.flights.removeValue(forKey: key) ?? []
        }
        for waiter in waiters { waiter(outcome) }
    }

    /// The same bytes without the room to grow that an encoder's output has.
    private static func compact(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.capacity > bytes.count + 64 else { return bytes }
        var compact: [UInt8] = []
        compact.reserveCapacity(bytes.count)
        compact += bytes
        return compact
    }
}
