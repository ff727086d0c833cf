internal import Synchronization

/// The turn to make a delta that others may be waiting for.
///
/// Whoever drops it without a word tells them that there was no place, so that nobody waits for ever.
package final class DeltaTurn: Sendable {
    private let key: DeltaKey
    private let cache: DeltaCache
    private let isOver = Atomic<Bool>(false)

    init(_ key: DeltaKey, of cache: DeltaCache) {
        self.key = key
        self.cache = cache
    }

    deinit { finish(.failed(.busy)) }

    /// Tells all who wait, and keeps a delta that was made; the first call counts.
    ///
    /// A delta given here has been verified.
    package func finish(_ outcome: DeltaOutcome) {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        cache.land(key, outcome)
    }
}
