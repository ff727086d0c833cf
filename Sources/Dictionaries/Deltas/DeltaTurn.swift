internal import Synchronization

/// The turn to make a delta that others may wait for.
///
/// A turn that is dropped without a call to `finish` tells them that no encoder was free, so that nobody waits for
/// ever.
package final class DeltaTurn: Sendable {
    private let key: DeltaKey
    private let cache: DeltaCache
    private let isOver = Atomic<Bool>(false)

    init(_ key: DeltaKey, of cache: DeltaCache) {
        self.key = key
        self.cache = cache
    }

    deinit { finish(.failed(.busy)) }

    /// Calls everyone who waits, and keeps a delta that was made; only the first call counts.
    ///
    /// The delta must have been verified.
    package func finish(_ outcome: DeltaOutcome) {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        cache.land(key, outcome)
    }
}
