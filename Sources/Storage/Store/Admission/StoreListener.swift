/// The receiver of new versions, for the store that several nodes share.
///
/// Its closures run on the thread that admits, often an event loop: they must be short.
package final class StoreListener: Sendable {
    let admitted: @Sendable (Version, VersionCandidate) -> Void
    /// A chain was established that was in probation.
    let established: @Sendable (ChainKey) -> Void
    /// A client was given a body under a random id.
    let promised: @Sendable (PromisedIDs.Promise) -> Void

    package init(
        admitted: @escaping @Sendable (Version, VersionCandidate) -> Void,
        established: @escaping @Sendable (ChainKey) -> Void,
        promised: @escaping @Sendable (PromisedIDs.Promise) -> Void = { _ in }
    ) {
        self.admitted = admitted
        self.established = established
        self.promised = promised
    }
}

/// The changes of holder counts since other nodes heard of them last.
struct DemandLog: Sendable {
    struct Change: Sendable {
        var holders: Int32 = 0
        /// The time of the last contact, in seconds since 1970.
        var contact: UInt32 = 0
    }

    private var changes: [Int64: Change] = [:]

    /// The number of versions whose changes are kept; changes of more are lost, which delays or hastens an eviction.
    private static let countMax = 20_000

    mutating func record(_ row: Int64, holders: Int32 = 0, contact: Int = 0) {
        guard changes.count < Self.countMax || changes[row] != nil else { return }
        var change = changes[row] ?? Change()
        // If there are no other nodes, nobody takes the sum for days, so it is bounded.
        change.holders = Int32(clamping: Int(change.holders) + Int(holders))
        change.contact = max(change.contact, UInt32(clamping: contact))
        changes[row] = change
    }

    mutating func take(max: Int) -> [(row: Int64, change: Change)] {
        let taken = changes.prefix(max).map { ($0.key, $0.value) }
        if taken.count == changes.count {
            changes.removeAll(keepingCapacity: true)
        } else {
            for (row, _) in taken { changes[row] = nil }
        }
        return taken
    }
}
