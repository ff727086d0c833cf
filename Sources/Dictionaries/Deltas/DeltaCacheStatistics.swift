/// What the delta cache holds and has done.
package struct DeltaCacheStatistics: Sendable, Equatable {
    /// Deltas that were there.
    package var hits = 0
    /// Deltas that another was making at the time.
    package var shared = 0
    /// Deltas that had to be made.
    package var misses = 0
    package var bytes = 0
    package var count = 0
    package var evictions = 0

    /// Nothing yet.
    package init() {}
}
