internal import Synchronization

/// The place where readers fetch the index, which is another one after the database was opened anew.
///
/// A reader that finds the generation unchanged touches nothing shared but that number.
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

    /// Makes the index the one that every reader uses from its next look-up on.
    func publish(_ index: DictionaryIndex) {
        // The former index is handed out of the lock, so that freeing its nodes makes no reader wait.
        let former = current.withLock { current in
            let former = current
            current = index
            return former
        }
        _ = former
        generation.add(1, ordering: .releasing)
    }
}
