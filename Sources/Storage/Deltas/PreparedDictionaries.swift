package import Dictionaries
internal import Dispatch
internal import Primitives

/// The indexed dictionaries in memory, within a budget.
///
/// Safe from any thread. A dictionary is indexed on its second use, by one thread, and never on an event loop. A built one is
/// indexed on its first use, since many follow.
/// Beyond the budget the least recently used one is evicted; it is indexed again on its second use from then.
package final class PreparedDictionaries: Sendable {
    /// The largest dictionary that is kept indexed: the tables take several times as much memory as the dictionary.
    package static let dictionaryBytesMax = 1 << 20

    /// The number of dictionaries without an index that are remembered.
    private static let onceMax = 4_096

    private struct Key: Hashable {
        let digest: Digest
        let coding: ContentCoding
        let scope: DeltaScope
    }

    /// The known fact about a dictionary without an index.
    private enum Unindexed: Sendable {
        case usedOnce
        /// The index alone is larger than the budget.
        case tooLarge
    }

    private struct State {
        var ready: RecencyMap<Key, PreparedDictionary>
        var unindexed = RecencyMap<Key, Unindexed>(
            bytesMax: onceMax * RecencyMap<Key, Unindexed>.overheadBytes)
        var flights: [Key: PreparedFlight] = [:]
        var statistics = PreparedStatistics()

        mutating func unindexed(_ key: Key) -> Unindexed? {
            unindexed.value(key) ?? (key.scope == .built ? .usedOnce : nil)
        }

        mutating func countReference(_ key: Key, _ unindexed: Unindexed?) {
            statistics.references += 1
            if unindexed == nil { _ = self.unindexed.insert(.usedOnce, bytes: 0, for: key) }
        }
    }

    /// The result of a look-up for an encoder.
    private enum Finding {
        case prepared(PreparedDictionary)
        case reference
        /// Another thread is indexing it.
        case underWay(PreparedFlight)
        /// The caller is to index it.
        case due(PreparedFlight)
    }

    private let state: Guarded<State>

    /// Makes an empty cache; `bytesMax` counts the indexes and the bodies that they refer to.
    package init(bytesMax: Int) {
        state = Guarded(State(ready: RecencyMap(bytesMax: bytesMax)))
    }

    package var statistics: PreparedStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.bytes = state.ready.bytes
            statistics.evictions = state.ready.evictions
            return statistics
        }
    }

    package func isReady(_ body: Body, for coding: ContentCoding, in scope: DeltaScope) -> Bool {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        return state.withLock { $0.ready.contains(key) }
    }

    /// Returns the dictionary in a form that is quick enough for an event loop; nil if it has to be indexed first.
    ///
    /// For some codings a reference is not quick either (`isQuickByReference`).
    package func quick(_ body: Body, for coding: ContentCoding, in scope: DeltaScope) -> DictionaryUse? {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        return state.withLock { (state) -> DictionaryUse? in
            if let prepared = state.ready.value(key) {
                state.statistics.hits += 1
                return .prepared(prepared)
            }
            guard coding.isQuickByReference else { return nil }
            let unindexed = state.unindexed(key)
            guard unindexed != .usedOnce || state.flights[key] != nil || body.count > Self.dictionaryBytesMax
            else { return nil }
            state.countReference(key, unindexed)
            return .reference(body)
        }
    }

    /// Returns the dictionary in the best form for an encoder, and indexes it if this is its second use.
    ///
    /// This takes milliseconds, so it is not for event loops. While another thread indexes the dictionary, a
    /// reference is returned, which for dcz takes a fifth of the time of indexing. For dcb the call waits for the index, since a
    /// reference would repeat the same work. The indexing thread is running, so the wait ends.
    package func use(
        _ body: Body, for coding: ContentCoding, in scope: DeltaScope = .public
    ) throws(CodingError) -> PreparedUse {
        let key = Key(digest: body.digest, coding: coding, scope: scope)
        switch find(key, bodyBytes: body.count) {
        case .prepared(let prepared): return PreparedUse(dictionary: .prepared(prepared))
        case .reference: return PreparedUse(dictionary: .reference(body))
        case .underWay(let flight):
            if !coding.isQuickByReference, let prepared = flight.wait() {
                return PreparedUse(dictionary: .prepared(prepared))
            }
            return PreparedUse(dictionary: .reference(body))
        case .due(let flight):
            let prepared: PreparedDictionary
            do throws(CodingError) {
                prepared = try PreparedDictionary(body, for: coding, level: scope.zstdLevel)
            } catch {
                land(flight, nil, key)
                throw error
            }
            land(flight, prepared, key)
            return PreparedUse(dictionary: .prepared(prepared), isFirst: true)
        }
    }

    private func find(_ key: Key, bodyBytes: Int) -> Finding {
        state.withLock { state in
            if let prepared = state.ready.value(key) {
                state.statistics.hits += 1
                return .prepared(prepared)
            }
            if let flight = state.flights[key] {
                state.statistics.shared += 1
                return .underWay(flight)
            }
            let unindexed = state.unindexed(key)
            guard unindexed == .usedOnce, bodyBytes <= Self.dictionaryBytesMax else {
                state.countReference(key, unindexed)
                return .reference
            }
            let flight = PreparedFlight()
            state.flights[key] = flight
            state.statistics.indexed += 1
            return .due(flight)
        }
    }

    private func land(_ flight: PreparedFlight, _ prepared: PreparedDictionary?, _ key: Key) {
        let gone = state.withLock { state -> [PreparedDictionary] in
            state.flights[key] = nil
            // The first use is forgotten, so that a dictionary that is evicted soon is not indexed again for a
            // single use.
            state.unindexed.remove(key)
            guard let prepared else { return [] }
            let bytes = prepared.memoryBytes + prepared.body.count + key.scope.memoryBytes
            let gone = state.ready.insert(prepared, bytes: bytes, for: key)
            if !state.ready.contains(key) { _ = state.unindexed.insert(.tooLarge, bytes: 0, for: key) }
            return gone
        }
        flight.land(prepared)
        // Freed here, outside the lock, since some have many megabytes.
        withExtendedLifetime(gone) {}
    }
}

package struct PreparedUse: Sendable {
    package let dictionary: DictionaryUse
    /// True if the index was made for this use, and has never been tried.
    package var isFirst = false
}

/// One indexing under way, with the threads that wait for it.
final class PreparedFlight: Sendable {
    private let landed = DispatchGroup()
    private let result = Guarded<PreparedDictionary?>(nil)

    init() {
        landed.enter()
    }

    /// Ends the wait of all threads; called once.
    func land(_ prepared: PreparedDictionary?) {
        result.withLock { $0 = prepared }
        landed.leave()
    }

    /// Waits for the end of the indexing; returns nil if it failed.
    ///
    /// It blocks, so it is not for event loops.
    func wait() -> PreparedDictionary? {
        landed.wait()
        return result.withLock { $0 }
    }
}

package struct PreparedStatistics: Sendable, Equatable {
    /// The number of uses of an existing index.
    package var hits = 0
    package var indexed = 0
    /// The number of uses while another thread was indexing.
    package var shared = 0
    /// The number of uses by reference: first uses, and dictionaries that are too large.
    package var references = 0
    /// The bytes of the indexes and of the bodies that they refer to.
    package var bytes = 0
    package var evictions = 0
}
