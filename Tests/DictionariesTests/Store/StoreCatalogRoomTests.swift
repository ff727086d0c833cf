import Foundation
import TestSupport
import Testing

@testable import Dictionaries

/// What an operator's removal takes on disk while it goes on.
@Suite(.timeLimit(.minutes(10))) struct StoreCatalogRoomTests {
    /// Admits several times what fits; waits for the disk each time, so that the store is as full as it gets.
    private func fill(_ store: DictionaryStore, maxBytes: Int, bodies: ClosedRange<Int>) {
        var (bytes, seed) = (0, 0)
        var random = SplitMix(seed: 7)
        while bytes < 2 * maxBytes {
            seed += 1
            let count = Int(random.next() % UInt64(bodies.count)) + bodies.lowerBound
            bytes += count
            let chain = ChainKey(authority: "api.example", match: "/\(seed % 97)")
            store.admit(
                Body(Noise.bytes(count, seed: UInt64(seed))), chain: chain, url: "/\(seed % 97)?\(seed)",
                keep: 1000, now: 1000 + seed)
            if bytes % 4 == 0 || count > 10_000 { #expect(store.flush(timeoutSeconds: 60)) }
        }
        #expect(store.flush(timeoutSeconds: 60))
    }

    @Test(
        arguments: [
            (1 << 20, 200...2000), (1 << 20, 1000...250_000), (3 << 20, 600_000...700_000),
            (8 << 20, 1...900_000),
        ], [false, true])
    func `database and log never pass max size while most of a full store is removed`(
        _ shape: (maxBytes: Int, bodies: ClosedRange<Int>), isInUse: Bool
    ) throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, maxBytes: shape.maxBytes)
        fill(store, maxBytes: shape.maxBytes, bodies: shape.bodies)
        if !isInUse { store.close() }
        let catalog = try StoreCatalog(path: folder.database, bytesMax: shape.maxBytes)
        let versions = try catalog.versions()
        try #require(folder.bytesOnDisk > shape.maxBytes / 3)
        let sampler = FileSizeSampler(folder.database)
        var (removed, largest, groups) = (0, 0, 0)
        try catalog.remove(Array(versions.dropLast()), sparingWanted: false) {
            (removed, groups) = (removed + $0.count, groups + 1)
            largest = max(largest, folder.bytesOnDisk)
        }
        try catalog.shrink()
        largest = max(largest, sampler.stop())
        #expect(largest <= shape.maxBytes)
        #expect(removed == versions.count - 1)
        #expect(try catalog.usedBytes() == folder.bytesOnDisk || isInUse)
        catalog.close()
        store.close()
        #expect(try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM body") == "ok\n1")
        #expect(folder.bytesOnDisk < shape.bodies.upperBound + 200_000)
        print("\(shape): \(removed) in \(groups) transactions, files at most \(largest)")
    }

    @Test func `what is removed without room to overwrite it is in no file afterwards either`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let words = Array("the removed one, ".utf8)
        let body = Body((0..<40_000).flatMap { _ in words })
        for seed in 1...20 {
            store.admit(sampleBody(seed, count: 40_000), url: "/kept?\(seed)", keep: 100)
            if seed == 10 { store.admit(body, url: "/removed", keep: 100) }
            #expect(store.flush())
        }
        store.close()
        let full = folder.bytesOnDisk
        let catalog = try StoreCatalog(path: folder.database, bytesMax: full + 200_000)
        let sampler = FileSizeSampler(folder.database)
        try catalog.remove(catalog.versions().filter { $0.url == "/removed" })
        try catalog.shrink()
        #expect(sampler.stop() <= full + 200_000)
        catalog.close()
        for file in folder.files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            #expect(bytes.range(of: Data("the removed one".utf8)) == nil, "\(file)")
        }
        #expect(try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM version") == "ok\n20")
    }

    @Test func `where no limit is known, the log gets some MiB at a time`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 1...60 { store.admit(sampleBody(seed, count: 500_000), keep: 100) }
        #expect(store.flush(timeoutSeconds: 60))
        store.close()
        let before = folder.bytesOnDisk
        let catalog = try StoreCatalog(path: folder.database)
        let sampler = FileSizeSampler(folder.database)
        #expect(try catalog.remove(catalog.versions()).count == 60)
        try catalog.shrink()
        #expect(sampler.stop() <= before + (5 << 20))
        #expect(folder.bytesOnDisk < 200_000)
        catalog.close()
    }

    @Test func `what was named in a Link since it was read is spared, where that is asked for`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let named = store.admit(sampleBody(1), now: 1000)
        store.admit(sampleBody(2), now: 1000)
        #expect(store.flush())
        let catalog = try StoreCatalog(path: folder.database)
        let versions = try catalog.versions()
        #expect(store.name(named, until: 2000, now: 1000))
        #expect(store.flush())
        #expect(try catalog.remove(versions, sparingWanted: true).map(\.digest) == [sampleBody(2).digest])
        #expect(try catalog.remove(versions).map(\.digest) == [named.digest])
        catalog.close()
        store.close()
    }
}
