import Foundation
import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Orders of a command to a process that ends before it has carried all of them out.
@Suite(.timeLimit(.minutes(40))) struct StoreCatalogueOrderTests {
    @Test func `what a process has left when it ends the command removes itself, and no order stays`() throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 1...3 { store.admit(sampleBody(seed)) }
        #expect(store.upkeep.flush())
        store.close()
        // Whoever has the lock is the process that writes.
        guard case .taken(let lock) = StoreLock.take(for: folder.database) else {
            Issue.record("the store is in use")
            return
        }
        let catalogue = try StoreCatalogue(path: folder.database)
        defer { catalogue.close() }
        let going = Array(try catalogue.versions().prefix(2))
        let removed = Guarded<[Digest]>([])
        let ended = Gate()
        Thread.detachNewThread {
            do {
                try catalogue.remove(going, sparingWanted: false) { part in
                    removed.withLock { $0 += part.map(\.digest) }
                }
            } catch {
                Issue.record("\(error)")
            }
            ended.open()
        }
        let writer = try StoreDatabase(path: folder.database, isVisitor: true)
        defer { writer.close() }
        try waitUntil("the command has asked for both") { try writer.removalsAsked(max: 10).count == 2 }
        let first = try writer.removalsAsked(max: 1)
        try writer.end(first, removing: first.map(\.id))
        lock.release()
        #expect(ended.wait())
        #expect(Set(removed.withLock { $0 }) == Set(going.map(\.digest)))
        #expect(removed.withLock { $0.count } == 2, "each is told once")
        #expect(try writer.removalsAsked(max: 10).isEmpty)
        #expect(try catalogue.versions().map(\.digest) == [sampleBody(3).digest])
    }
}
