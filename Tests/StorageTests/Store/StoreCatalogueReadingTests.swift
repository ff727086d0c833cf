import Dispatch
import Testing

@testable import Dictionaries
@testable import Storage

/// What a command reads of the bodies of a store.
@Suite(.timeLimit(.minutes(40))) struct StoreCatalogueReadingTests {
    private let folder: StoreFolder
    private let store: DictionaryStore

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    private func text(_ reading: StoreCatalogue.Reading) -> String {
        switch reading {
        case .sound(let body): "sound: \(body.digest.hex)"
        case .damaged(let reason): "damaged: \(reason)"
        case .gone: "gone"
        }
    }

    @Test func `the first sound body of several is read, and a version that is gone is not called damaged`()
        throws
    {
        for seed in 1...4 { store.admit(sampleBody(seed)) }
        #expect(store.upkeep.flush())
        store.close()
        let row = folder.bodyRow(of: sampleBody(3))
        try folder.sqlite("UPDATE body SET bytes = zeroblob(1000) WHERE id = \(row)")
        let digest = sampleBody(4).digest.hex
        try folder.sqlite("UPDATE version SET size = 1001 WHERE digest = X'\(digest)'")
        let catalogue = try StoreCatalogue(path: folder.database)
        defer { catalogue.close() }
        let versions = try catalogue.versions()
        try #require(versions.count == 4)
        let (gone, sound, damaged, longer) = (versions[0], versions[1], versions[2], versions[3])
        #expect(try catalogue.remove([gone]).count == 1)
        #expect(text(try catalogue.body(of: gone)) == "gone")
        #expect(text(try catalogue.body(of: damaged)).hasPrefix("damaged: its bytes do not match"))
        #expect(
            text(try catalogue.body(of: longer)) == "damaged: it has 1000 bytes, but its row says 1001")
        let whole = "sound: \(sampleBody(2).digest.hex)"
        #expect(text(try catalogue.body(ofAny: [gone, damaged, sound])) == whole)
        #expect(text(try catalogue.body(ofAny: [damaged, gone])).hasPrefix("damaged: "))
        #expect(text(try catalogue.body(ofAny: [gone])) == "gone")
    }

    @Test func `versions with one body are listed together, in the order of digests`() throws {
        store.writeQueue.suspend()
        for seed in 1...6 { store.admit(sampleBody(seed)) }
        let other = ChainKey(authority: "api.example", match: "/other")
        store.admit(sampleBody(3), chain: other, url: "/other")
        store.writeQueue.resume()
        #expect(store.upkeep.flush())
        store.close()
        let catalogue = try StoreCatalogue(path: folder.database)
        defer { catalogue.close() }
        let groups = try catalogue.versionsByBody()
        let digests = groups.map { $0[0].digest.hex }
        let sorted = (1...6).map { sampleBody($0).digest.hex }.sorted()
        #expect(digests == sorted)
        let shared = try #require(groups.first { $0.count > 1 })
        #expect(shared.count == 2 && Set(shared.map(\.digest)) == [sampleBody(3).digest])
    }
}
