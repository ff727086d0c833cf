/// The counts of making deltas, and the sizes of what is kept for the next ones.
package struct DeltaStatistics: Sendable, Equatable {
    package var prepared = PreparedStatistics()
    package var cache = DeltaCacheStatistics()
    /// The number of deltas that were verified.
    package var checks = 0
    /// The number of verified deltas that were not exact.
    package var failures = 0
    /// The number of passes at the strongest setting, by their end.
    package var passes: [StrongestPass.End: Int] = [:]

    package init() {}
}
