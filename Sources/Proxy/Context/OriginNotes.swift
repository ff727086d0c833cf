internal import Primitives
internal import Synchronization

/// A bounded memory of facts about origins that a later request or 304 does not repeat, as hashes.
///
/// A newer note takes the place of an older one. Safe from any thread.
final class OriginNotes: Sendable {
    private static let slots = 1 << 16
    /// Made for the first note; most origins give no reason for any.
    private let hashes = Guarded<[Int]>([])
    private let isUsed = Atomic<Bool>(false)

    func contains(_ hash: Int) -> Bool {
        isUsed.load(ordering: .relaxed) && hashes.withLock { $0[hash & (Self.slots - 1)] == hash }
    }

    /// Notes a hash, or forgets it unless `isTrue`; while there is nothing to forget, none is made.
    func note(_ hash: @autoclosure () -> Int, _ isTrue: Bool) {
        guard isTrue || isUsed.load(ordering: .relaxed) else { return }
        let hash = hash()
        hashes.withLock { hashes in
            if hashes.isEmpty { hashes = [Int](repeating: 0, count: Self.slots) }
            let slot = hash & (Self.slots - 1)
            if isTrue { hashes[slot] = hash } else if hashes[slot] == hash { hashes[slot] = 0 }
        }
        isUsed.store(true, ordering: .relaxed)
    }
}
