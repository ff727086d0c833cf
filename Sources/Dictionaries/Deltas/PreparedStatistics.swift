/// What the shelf of prepared dictionaries holds and has done.
package struct PreparedStatistics: Sendable, Equatable {
    /// Uses of an index that was there.
    package var hits = 0
    /// Dictionaries that were indexed.
    package var indexed = 0
    /// Uses while another thread was indexing.
    package var shared = 0
    /// Uses by reference: the first of each, and those that are too large.
    package var references = 0
    /// Indexes, and the bodies they refer to, in memory.
    package var bytes = 0
    package var count = 0
    package var evictions = 0

    /// Nothing yet.
    package init() {}
}
