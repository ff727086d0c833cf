/// The sizes and counts of the delta cache.
package struct DeltaCacheStatistics: Sendable, Equatable {
    /// The number of look-ups that found a delta.
    package var hits = 0
    /// The number of look-ups that waited for another's delta.
    package var shared = 0
    /// The number of look-ups that had to make the delta.
    package var misses = 0
    package var bytes = 0
    package var count = 0
    package var evictions = 0

    package init() {}
}
