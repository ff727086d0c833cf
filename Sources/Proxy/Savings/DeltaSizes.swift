/// The bytes of deltas, and of the same bodies in the best coding without a dictionary that the client accepts.
package struct DeltaSizes: Codable, Equatable, Sendable {
    package private(set) var count = 0
    package private(set) var deltaBytes = 0
    package private(set) var plainBytes = 0

    package init(count: Int = 0, deltaBytes: Int = 0, plainBytes: Int = 0) {
        (self.count, self.deltaBytes, self.plainBytes) = (count, deltaBytes, plainBytes)
    }

    package mutating func add(deltaBytes: Int, plainBytes: Int) {
        count += 1
        self.deltaBytes += deltaBytes
        self.plainBytes += plainBytes
    }

    mutating func add(_ other: DeltaSizes) {
        count += other.count
        deltaBytes += other.deltaBytes
        plainBytes += other.plainBytes
    }

    /// The averages; 0 without any.
    package var meanDeltaBytes: Int { deltaBytes / max(1, count) }
    package var meanPlainBytes: Int { plainBytes / max(1, count) }

    /// The percentage of bytes that the deltas save, negative if they are larger; nil without any.
    private var savedPercent: Double? {
        plainBytes > 0 ? 100 * Double(plainBytes - deltaBytes) / Double(plainBytes) : nil
    }

    package var savedShare: Double? { savedPercent.map { $0 / 100 } }

    /// The same, rounded down; 0 without any.
    var percent: Int { Int((savedPercent ?? 0).rounded(.down)) }
}
