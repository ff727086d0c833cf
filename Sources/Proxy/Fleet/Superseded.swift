internal import Dictionaries
internal import Storage

/// The versions whose last holder has gone on, until the shared store may lose them; a pure value.
///
/// A holder whose response was lost comes back with the former version, so they stay for a while.
struct Superseded: Sendable {
    /// The time that they stay, in seconds: most clients whose response was lost ask again within it.
    static let pauseSeconds = 60
    /// The number of versions that are noted; more stay in the shared store until their time is over.
    private static let countMax = 100_000

    /// A slice, since it loses its first elements in constant time.
    private var queue: ArraySlice<(name: SharedName, second: Int)> = []

    var count: Int { queue.count }

    /// Notes a version that has lost its last holder.
    mutating func note(_ name: SharedName, now: Int) {
        guard count < Self.countMax else { return }
        queue.append((name, now + Self.pauseSeconds))
    }

    /// Takes the versions whose time has come, at most so many; their holders must be looked at again.
    mutating func takeDue(now: Int, max: Int) -> [SharedName] {
        let due = queue.prefix(max).prefix { $0.second <= now }
        queue.removeFirst(due.count)
        return due.map(\.name)
    }
}
