/// What has been done to make deltas, and what is kept of them.
package struct DeltaStatistics: Sendable, Equatable {
    package var prepared = PreparedStatistics()
    package var cache = DeltaCacheStatistics()
    /// Deltas that were decoded again.
    package var checks = 0
    /// Those of them that were not exact.
    package var failures = 0
    /// The passes at the strongest setting, by their ends.
    package var passes: [StrongestPass.End: Int] = [:]

    /// Nothing yet.
    package init() {}
}
