internal import Synchronization

/// The reference to the index that all readers share; it changes when the database is opened again.
///
/// A reader that finds the generation unchanged touches nothing else that is shared.
final class IndexPublisher: Sendable {
    private let current: Guarded<DictionaryIndex>
    private let generation = Atomic<Int>(0)

    init(_ index: DictionaryIndex) {
        current = Guarded(index)
    }

    /// The number of the newest index.
    var newestGeneration: Int { generation.load(ordering: .acquiring) }

    /// The newest index.
    var index: DictionaryIndex { current.withLock { $0 } }

    /// Makes this the index that every reader uses from its next look-up on.
    func publish(_ index: DictionaryIndex) {
        // Hand the former index out of the lock, so that freeing it makes no reader wait.
        let former = current.withLock { current in
            let former = current
            current = index
            return former
        }
        _ = former
        generation.add(1, ordering: .releasing)
    }
}
