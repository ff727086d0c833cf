import Foundation
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Tests how much disk an operator's removal needs while it runs.
@Suite(.timeLimit(.minutes(40))) struct StoreCatalogueSpaceTests {
    @Test(arguments: [false, true])
    func `removing all of a store takes a log of some MiB at a time, and gives the room back`(isInUse: Bool)
        throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        for seed in 1...60 { store.admit(sampleBody(seed, count: 500_000), keep: 100) }
        #expect(store.upkeep.flush(timeoutSeconds: 60))
        if !isInUse { store.close() }
        let catalogue = try StoreCatalogue(path: folder.database)
        let sampler = FileSizeSampler(folder.database)
        var parts = 0
        try catalogue.remove(catalogue.versions(), sparingWanted: false) { _ in parts += 1 }
        try catalogue.shrink()
        catalogue.close()
        store.close()
        let largest = sampler.stop()
        #expect(parts > 1)
        #expect(largest.log <= DiskBudget.logBytesMax)
        #expect(folder.bytesOnDisk < 300_000)
        #expect(try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM body") == "ok\n0")
    }

    @Test func `versions are grouped by chain where chains differ by match-dest alone`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let chains = [["script"], ["document"], []].map {
            ChainKey(authority: "api.example", match: "/feed", matchDest: $0)
        }
        for seed in 0..<30 { store.admit(sampleBody(seed), chain: chains[seed % 3], now: 1000 + seed) }
        #expect(store.upkeep.flush())
        store.close()
        let catalogue = try StoreCatalogue(path: folder.database)
        let listed = try catalogue.versions().map(\.chainKey)
        #expect(
            listed
                == [[], ["document"], ["script"]].flatMap { dests in
                    Array(
                        repeating: ChainKey(authority: "api.example", match: "/feed", matchDest: dests),
                        count: 10)
                })
        catalogue.close()
    }

    @Test func `what is removed is in no file afterwards`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database)
        let words = Array("the removed one, ".utf8)
        let body = Body((0..<40_000).flatMap { _ in words })
        for seed in 1...20 {
            store.admit(sampleBody(seed, count: 40_000), url: "/kept?\(seed)", keep: 100)
            if seed == 10 { store.admit(body, url: "/removed", keep: 100) }
            #expect(store.upkeep.flush())
        }
        store.close()
        let catalogue = try StoreCatalogue(path: folder.database)
        try catalogue.remove(catalogue.versions().filter { $0.url == "/removed" })
        try catalogue.shrink()
        catalogue.close()
        for file in folder.files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            #expect(bytes.range(of: Data("the removed one".utf8)) == nil, "\(file)")
        }
        #expect(try folder.sqlite("PRAGMA integrity_check; SELECT count(*) FROM version") == "ok\n20")
    }
}
