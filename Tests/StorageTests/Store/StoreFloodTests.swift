import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreFloodTests {
    private static let floodCount = 20_000

    @Test(arguments: [false, true])
    func `a flood of distinct URLs leaves the established chains untouched`(isOnDisk: Bool) throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(
            isOnDisk ? folder.database : ":memory:", maxBytes: 4 << 20, maxChains: 1000, memoryBytes: 1 << 20)
        let established = (0..<100).map { number in
            let chain = ChainKey(authority: "api.example", match: "/feed/\(number)")
            let version = store.admit(
                sampleBody(number), chain: chain, url: chain.match, isImplied: true, now: 1000)
            store.demand.advertised(version, now: 1000)
            return version
        }
        #expect(store.upkeep.flush())
        var (chainsMost, memoryMost, filesMost) = (0, 0, 0)
        for number in 0..<Self.floodCount {
            let url = "/odd/\(number)"
            let body = Body([UInt8](url.utf8))
            // The flood continues, whether this is refused or not.
            _ = try? store.admission.admit(
                VersionCandidate(
                    body,
                    key: VersionKey(
                        chain: ChainKey(authority: "api.example", match: url), url: url, variant: ""),
                    policy: AdmissionPolicy(startsInProbation: true)), now: 2000 + number)
            guard number % 500 == 0 else { continue }
            let statistics = store.statistics
            chainsMost = max(chainsMost, statistics.chains)
            memoryMost = max(memoryMost, statistics.memoryBytes)
            if isOnDisk { filesMost = max(filesMost, folder.fileBytes) }
        }
        #expect(store.upkeep.flush(timeoutSeconds: 60))
        #expect(chainsMost <= 300)
        #expect(memoryMost <= 1 << 20)
        #expect(filesMost <= 4 << 20)
        let reader = store.reader()
        for version in established {
            #expect(reader.version(chain: version.chainKey, digest: version.digest) === version)
        }
        let hotCount = established.count { store.hotBody(of: $0) != nil }
        #expect(hotCount == 100)
        #expect(store.statistics.evictions.keys.sorted { $0.rawValue < $1.rawValue } == [.probation])
        store.close()
        if isOnDisk {
            let reopened = try DictionaryStore.open(folder.database, maxBytes: 4 << 20)
            #expect(reopened.statistics.chains == 300)
            #expect(reopened.statistics.chainsInProbation == 200)
        }
    }

    @Test func `chains in probation cannot use up what may be written`() throws {
        let store = try DictionaryStore.open(":memory:", writeBytesPerSecond: 100_000)
        var refused = 0
        for number in 0..<200 {
            let chain = ChainKey(authority: "api.example", match: "/odd/\(number)")
            do {
                try store.admission.admit(
                    VersionCandidate(
                        sampleBody(number), key: VersionKey(chain: chain, url: chain.match, variant: ""),
                        policy: AdmissionPolicy(startsInProbation: true)), now: 1000)
            } catch {
                #expect(error == .rate)
                refused += 1
            }
        }
        #expect(refused > 0)
        #expect(store.statistics.refusals == [.rate: refused])
        store.admit(sampleBody(1000, count: 40_000), now: 1000)
    }

    @Test func `a copy of what is stored already uses up nothing of what may be written`() throws {
        let store = try DictionaryStore.open(":memory:", writeBytesPerSecond: 10_000)
        for _ in 0..<100 {
            let slot = try store.slot(bytes: 1000).get()
            try store.admission.admit(
                VersionCandidate(
                    sampleBody(1), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
                    policy: AdmissionPolicy()), slot: slot, now: 1000)
        }
        #expect(store.statistics.returns == 99 && store.statistics.refusals.isEmpty)
    }

    @Test func `a body that packs well uses up what it takes on disk`() throws {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(folder.database, writeBytesPerSecond: 100_000)
        for number in 0..<20 {
            let body = Body(Array(String(repeating: "item \(number), ", count: 5_000).utf8))
            let key = VersionKey(chain: feedChain, url: "/feed?\(number)", variant: "")
            #expect(throws: Never.self, "body \(number)") {
                try store.admission.admit(
                    VersionCandidate(body, key: key, policy: AdmissionPolicy(versions: 100)), now: 1000)
            }
            #expect(store.upkeep.flush())
        }
        store.close()
    }
}
