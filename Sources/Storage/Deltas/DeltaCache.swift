internal import Primitives
internal import Synchronization

/// The verified deltas in memory, within a budget, and the flights of those that are being made.
///
/// Safe from any thread, and no thread waits in it: a client that needs a delta that another one makes is called
/// back.
package final class DeltaCache: Sendable {
    /// A function that is called once, by the thread that made the delta or gave it up.
    package typealias Waiter = @Sendable (DeltaOutcome<[UInt8]>) -> Void

    private struct Entry {
        /// Nil if the delta would be no shorter than the body.
        var coded: [UInt8]?
        /// The client addresses that have needed the delta: two, which is enough to tell three apart.
        var peers: [UInt128] = []
        /// True if the delta is coded at the strongest setting, or about to be.
        var isStrongest = false

        var outcome: DeltaOutcome<[UInt8]> { coded.map { .coded($0) } ?? .notShorter }
    }

    /// A delta that is being made, by at most two turns.
    private struct Flight {
        /// Tells the flight from an earlier and a later one of the same delta.
        let number: Int
        /// True if a turn makes it that waits behind the other work of a client with much under way.
        var isMadeCrowded = false
        /// True if another turn makes it.
        var isMade = false
        var waiters: [Waiter] = []
    }

    private struct State {
        var entries: RecencyMap<DeltaKey, Entry>
        var flights: [DeltaKey: Flight] = [:]
        var statistics = DeltaCacheStatistics()

        mutating func find(_ key: DeltaKey) -> DeltaHit? {
            guard let entry = entries.value(key) else { return nil }
            statistics.hits += 1
            return DeltaHit(outcome: entry.outcome, wantsPeers: !entry.isStrongest && entry.coded != nil)
        }

        mutating func keep(_ entry: Entry, _ key: DeltaKey) {
            // An array has a header of 32 bytes, and the allocator adds some; two addresses take as much again.
            let bytes = (entry.coded?.capacity ?? 0) + 48 + 80 + key.scope.memoryBytes
            _ = entries.insert(entry, bytes: bytes, for: key)
        }
    }

    private let state: Guarded<State>

    /// Makes an empty cache; `bytesMax` counts the deltas and the tables that find them.
    package init(bytesMax: Int) {
        state = Guarded(State(entries: RecencyMap(bytesMax: bytesMax)))
    }

    package var statistics: DeltaCacheStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.bytes = state.entries.bytes
            statistics.evictions = state.entries.evictions
            return statistics
        }
    }

    package func find(_ key: DeltaKey) -> DeltaHit? {
        state.withLock { $0.find(key) }
    }

    /// Returns the delta if it is in the cache, or joins those who wait for it, or takes the turn to make it.
    ///
    /// `isCrowded` says that the caller's work waits for much other work of its client: others do not wait for its turn,
    /// but take one of their own.
    package func join(_ key: DeltaKey, isCrowded: Bool = false, _ waiter: () -> Waiter) -> DeltaJoin {
        state.withLock { state in
            if let hit = state.find(key) { return .hit(hit) }
            if let flight = state.flights[key], isCrowded || flight.isMade {
                state.flights[key]?.waiters.append(waiter())
                state.statistics.shared += 1
                return .waiting
            }
            state.statistics.misses += 1
            var flight = state.flights[key] ?? Flight(number: state.statistics.misses)
            if isCrowded { flight.isMadeCrowded = true } else { flight.isMade = true }
            state.flights[key] = flight
            return .lead(DeltaTurn(key, flight: flight.number, isCrowded: isCrowded, of: self))
        }
    }

    /// Records a client address that needed a delta; returns true once, for the third different one: the delta is
    /// worth the strongest coding.
    package func recordPeer(_ address: UInt128, of key: DeltaKey) -> Bool {
        state.withLock { state in
            state.entries.update(key) { entry in
                guard !entry.isStrongest, entry.coded != nil, !entry.peers.contains(address) else {
                    return false
                }
                guard entry.peers.count == 2 else {
                    entry.peers.append(address)
                    return false
                }
                entry.isStrongest = true
                return true
            } ?? false
        }
    }

    /// Records that a delta will not be coded at the strongest setting: the next client may request that again.
    package func cancelStrongest(_ key: DeltaKey) {
        state.withLock { state in _ = state.entries.update(key) { $0.isStrongest = false } }
    }

    /// Returns the length of a cached delta that is shorter than its body.
    func codedBytes(_ key: DeltaKey) -> Int? {
        state.withLock { state in state.entries.update(key) { $0.coded?.count } ?? nil }
    }

    /// Replaces a longer delta by a verified one; returns false, and changes nothing, if there is none.
    func replace(with delta: VerifiedDelta) -> Bool {
        let key = delta.key
        let coded = Self.compact(delta.bytes)
        return state.withLock { state in
            guard var entry = state.entries.value(key), let former = entry.coded, coded.count < former.count
            else { return false }
            entry.coded = coded
            state.keep(entry, key)
            return true
        }
    }

    /// Ends a turn, and with it the flight unless another turn may still make what this one could not: keeps a reusable outcome
    /// of a delta that is not here yet, and calls everyone who waits.
    fileprivate func land(_ turn: DeltaTurn, _ outcome: DeltaOutcome<VerifiedDelta>) {
        let key = turn.key
        let entry: Entry? =
            switch outcome {
            case .coded(let delta): Entry(coded: Self.compact(delta.bytes))
            case .notShorter: Entry(coded: nil)
            case .failed: nil
            }
        let waiters: [Waiter] = state.withLock { state in
            if let entry, state.entries.value(key) == nil { state.keep(entry, key) }
            guard var flight = state.flights[key], flight.number == turn.flight else { return [] }
            if turn.isCrowded { flight.isMadeCrowded = false } else { flight.isMade = false }
            state.flights[key] = entry == nil && (flight.isMadeCrowded || flight.isMade) ? flight : nil
            return state.flights[key] == nil ? flight.waiters : []
        }
        for waiter in waiters { waiter(outcome.bytes) }
    }

    /// Returns the same bytes without the spare capacity of an encoder's output.
    private static func compact(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.capacity > bytes.count + 64 else { return bytes }
        var compact: [UInt8] = []
        compact.reserveCapacity(bytes.count)
        compact += bytes
        return compact
    }
}

package struct DeltaHit: Sendable {
    /// The delta, or that it would be no shorter than the body.
    package let outcome: DeltaOutcome<[UInt8]>
    /// True if the client's address is to be recorded: the delta may still be coded more strongly.
    package let wantsPeers: Bool
}

/// The result of a look-up that may make the delta.
package enum DeltaJoin: Sendable {
    case hit(DeltaHit)
    /// Another client's thread makes it, and will call back.
    case waiting
    /// The caller is to make it.
    case lead(DeltaTurn)
}

/// The turn to make a delta that others may wait for.
///
/// A turn that is dropped without a call to `finish` tells them that no encoder was free, so that none of them waits
/// for ever.
package final class DeltaTurn: Sendable {
    fileprivate let key: DeltaKey
    fileprivate let flight: Int
    /// True if the caller's work waits for much other work of its client.
    package let isCrowded: Bool
    private let cache: DeltaCache
    private let isOver = Atomic<Bool>(false)

    fileprivate init(_ key: DeltaKey, flight: Int, isCrowded: Bool, of cache: DeltaCache) {
        (self.key, self.flight, self.isCrowded) = (key, flight, isCrowded)
        self.cache = cache
    }

    deinit { finish(.failed(.busy)) }

    /// Calls everyone who waits, and keeps a delta that was made; only the first call counts.
    ///
    /// A delta of another key is not exact here, and fails.
    package func finish(_ outcome: DeltaOutcome<VerifiedDelta>) {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if case .coded(let delta) = outcome, delta.key != key { return cache.land(self, .failed(.inexact)) }
        cache.land(self, outcome)
    }
}

package struct DeltaCacheStatistics: Sendable, Equatable {
    /// The number of look-ups that found a delta.
    package var hits = 0
    /// The number of look-ups that waited for another's delta.
    package var shared = 0
    /// The number of look-ups that had to make the delta.
    package var misses = 0
    package var bytes = 0
    package var evictions = 0
}
