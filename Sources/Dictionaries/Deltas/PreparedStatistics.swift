/// The sizes and counts of the prepared dictionaries.
package struct PreparedStatistics: Sendable, Equatable {
    /// The number of uses of an existing index.
    package var hits = 0
    /// The number of dictionaries that were indexed.
    package var indexed = 0
    /// The number of uses while another thread was indexing.
    package var shared = 0
    /// The number of uses by reference: first uses, and dictionaries that are too large.
    package var references = 0
    /// The bytes of the indexes and of the bodies that they refer to.
    package var bytes = 0
    package var count = 0
    package var evictions = 0

    package init() {}
}
