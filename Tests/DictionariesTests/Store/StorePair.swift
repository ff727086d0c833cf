@testable import Dictionaries

/// Two stores on one file, as two processes have it during a hand-over: what suites of that begin with.
class StorePair {
    let folder: StoreFolder
    let first: DictionaryStore
    let second: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        first = try .open(folder.database)
        second = try .open(folder.database)
    }

    /// Writes what waits in both, then lets both look.
    func settle() { settleAll([first, second]) }

    /// The bodies of a chain as a store has them, the oldest first.
    func digests(_ store: DictionaryStore, _ chain: ChainKey = feedChain) -> [Digest] {
        store.publisher.index.versions(of: chain).map(\.digest)
    }
}
