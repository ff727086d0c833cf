/// The versions that Links name, bounded so that they never fill the store.
///
/// Guarded by the store's lock. All operations except `prune` and `beyond` are O(1).
struct Pins: Sendable {
    /// The upper bounds of pinned versions.
    struct Limits: Sendable {
        let bytes: Int
        let count: Int
    }

    private var pins: [Int64: (until: Int, bytes: Int)] = [:]
    /// The bytes of the pinned bodies, with an allowance for each row.
    private(set) var bytes = 0
    private var earliestEnd = Int.max

    private static let overheadBytes = 1024

    var count: Int { pins.count }

    func contains(_ id: Int64) -> Bool { pins[id] != nil }

    /// Returns the bytes that a version would add.
    static func cost(of version: Version) -> Int { version.bytes + overheadBytes }

    /// Adds a version that is pinned until some second.
    mutating func insert(_ version: Version) {
        remove(version.id)
        let pin = (until: version.pinnedUntil, bytes: Self.cost(of: version))
        pins[version.id] = pin
        bytes += pin.bytes
        earliestEnd = min(earliestEnd, pin.until)
    }

    mutating func remove(_ id: Int64) {
        if let pin = pins.removeValue(forKey: id) { bytes -= pin.bytes }
    }

    /// Removes the pins that have ended; costs nothing until the first end.
    mutating func prune(now: Int) {
        guard now >= earliestEnd else { return }
        for (id, pin) in pins where pin.until <= now { remove(id) }
        earliestEnd = pins.values.map(\.until).min() ?? .max
    }

    /// Returns the pins that must go for the rest to fit, those that end first before the others.
    func beyond(_ limits: Limits) -> [Int64] {
        var (bytes, count) = (bytes, count)
        guard bytes > limits.bytes || count > limits.count else { return [] }
        var ids: [Int64] = []
        for (id, pin) in pins.sorted(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
        where bytes > limits.bytes || count > limits.count {
            ids.append(id)
            bytes -= pin.bytes
            count -= 1
        }
        return ids
    }
}
