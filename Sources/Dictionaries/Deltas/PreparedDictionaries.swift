/// The dictionaries that have been indexed and wait for their next body, within a budget of memory.
///
/// Safe from any thread. A dictionary is indexed on its second use, by one thread, and never on an event loop. When the
/// budget is used up, the one that was used longest ago goes first, and is indexed again on its second use from then.
package final class PreparedDictionaries: Sendable {
    /// Larger dictionaries are indexed for each body: their tables take several times as much memory as they do.
    package static let dictionaryBytesMax = 1 << 20

    /// How many dictionaries that were used once, or fit nowhere, are remembered.
    private static let onceMax = 4_096

    private struct Key: Hashable {
        let digest: Digest
        let coding: ContentCoding
        let scope: DeltaScope
    }

    /// What is known of a dictionary without an index.
    private enum Past: Sendable {
        case usedOnce
        /// Its index alone is larger than the budget.
        case tooLarge
    }

    private struct Shelf {
        var ready: RecencyMap<Key, PreparedDictionary>
        var past = RecencyMap<Key, Past>(bytesMax: onceMax * RecencyMap<Key, Past>.overheadBytes)
        var flights: [Key: PreparedFlight] = [:]
        var statistics = PreparedStatistics()

        /// Notes a use by reference.
        mutating func refer(_ key: Key, _ past: Past?) {
            statistics.references += 1
            if past == nil { _ = self.past.insert(.usedOnce, bytes: 0, for: key) }
        }
    }

    /// What an encoder-to-be finds.
    private enum Finding {
        case prepared(PreparedDictionary)
        case reference
        /// Somebody else is at it.
        case underWay(PreparedFlight)
        /// The caller is to do it.
        case due(PreparedFlight)
    }

    private let shelf: Guarded<Shelf>

    /// An empty shelf; `bytesMax` counts the indexes and the bodies they refer to.
    package init(bytesMax: Int) {
        shelf = Guarded(Shelf(ready: RecencyMap(bytesMax: bytesMax)))
    }

    /// What it holds and has done.
    package var statistics: PreparedStatistics {
        shelf.withLock { shelf in
            var statistics = shelf.statistics
            statistics.bytes = shelf.ready.bytes
            statistics.count = shelf.ready.count
            statistics.evictions = shelf.ready.evictions
            return statistics
        }
    }

    /// The bytes of memory that the waiting dictionaries hold.
    package var memoryBytes: Int { statistics.bytes }

    /// Whether the dictionary is indexed for that coding.
    package func isReady(_ body: Body, for coding: ContentCoding, in scope: DeltaScope) -> Bool {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        return shelf.withLock { $0.ready.contains(key) }
    }

    /// The dictionary as an encoder on an event loop may have it; nil where it is to be indexed, which is not for there.
    ///
    /// For dcb a reference is nil as well: brotli indexes the dictionary for each such encoder.
    package func quick(
        _ body: Body, for coding: ContentCoding, in scope: DeltaScope
    ) -> DictionaryUse? {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        return shelf.withLock { (shelf) -> DictionaryUse? in
            if let prepared = shelf.ready.value(key) {
                shelf.statistics.hits += 1
                return .prepared(prepared)
            }
            guard coding == .dcz else { return nil }
            let past = shelf.past.value(key)
            guard past != .usedOnce || shelf.flights[key] != nil || body.count > Self.dictionaryBytesMax
            else {
                return nil
            }
            shelf.refer(key, past)
            return .reference(body)
        }
    }

    /// The dictionary as an encoder should get it, indexed now if this is its second use, and whether its index is new.
    ///
    /// Takes milliseconds, so not on an event loop. While another thread indexes it for dcz this one goes by reference,
    /// which takes a fifth of the time of the indexing; for dcb it waits, for a reference would be the same work once
    /// more. Whoever indexes is running, so the wait ends.
    package func use(
        _ body: Body, for coding: ContentCoding, in scope: DeltaScope = .public
    ) throws(CodingError) -> PreparedUse {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        switch find(key, bodyBytes: body.count) {
        case .prepared(let prepared): return PreparedUse(.prepared(prepared))
        case .reference: return PreparedUse(.reference(body))
        case .underWay(let flight):
            if coding == .dcb, let prepared = flight.wait() { return PreparedUse(.prepared(prepared)) }
            return PreparedUse(.reference(body))
        case .due(let flight):
            let prepared: PreparedDictionary
            do throws(CodingError) {
                prepared = coding == .dcb ? try .brotli(body) : try .zstd(body)
            } catch {
                land(flight, nil, key)
                throw error
            }
            land(flight, prepared, key)
            return PreparedUse(.prepared(prepared), isFirst: true)
        }
    }

    private func find(_ key: Key, bodyBytes: Int) -> Finding {
        shelf.withLock { shelf in
            if let prepared = shelf.ready.value(key) {
                shelf.statistics.hits += 1
                return .prepared(prepared)
            }
            if let flight = shelf.flights[key] {
                shelf.statistics.shared += 1
                return .underWay(flight)
            }
            let past = shelf.past.value(key)
            guard past == .usedOnce, bodyBytes <= Self.dictionaryBytesMax else {
                shelf.refer(key, past)
                return .reference
            }
            let flight = PreparedFlight()
            shelf.flights[key] = flight
            shelf.statistics.indexed += 1
            return .due(flight)
        }
    }

    private func land(_ flight: PreparedFlight, _ prepared: PreparedDictionary?, _ key: Key) {
        let gone = shelf.withLock { shelf -> [PreparedDictionary] in
            shelf.flights[key] = nil
            // Forgotten, so that a dictionary that is evicted soon is not indexed again for a single use.
            shelf.past.remove(key)
            guard let prepared else { return [] }
            let bytes = prepared.memoryBytes + prepared.body.count + key.scope.memoryBytes
            let gone = shelf.ready.insert(prepared, bytes: bytes, for: key)
            if !shelf.ready.contains(key) { _ = shelf.past.insert(.tooLarge, bytes: 0, for: key) }
            return gone
        }
        flight.land(prepared)
        // Freed here, outside the lock: some are of many megabytes.
        withExtendedLifetime(gone) {}
    }
}
