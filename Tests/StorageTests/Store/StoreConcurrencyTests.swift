import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreConcurrencyTests {
    @Test func `threads that admit, read, load, touch and sweep at once leave everything consistent`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try DictionaryStore.open(
            folder.database, maxBytes: 2 << 20, maxChains: 20, memoryBytes: 300_000)
        let bodies = (0..<60).map { sampleBody($0, count: 5000) }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let reader = store.reader()
                    for round in 0..<400 {
                        let choice = (round * 7 + worker * 13) % 60
                        let chain = ChainKey(authority: "api.example", match: "/\(choice % 25)")
                        let now = 1000 + round
                        switch (round + worker) % 6 {
                        case 0, 1:
                            let policy = AdmissionPolicy(
                                versions: 3, maxAge: 200, startsInProbation: choice % 2 == 0)
                            let slot = try? store.admission.reserve(
                                VersionKey(chain: chain, url: "/\(choice)", variant: ""), bytes: 5000,
                                policy: policy)
                            if round % 2 == 0 { slot?.release() }
                            // The store refuses bodies while too much waits for the disk.
                            _ = try? store.admission.admit(
                                VersionCandidate(
                                    bodies[choice],
                                    key: VersionKey(chain: chain, url: "/\(choice)", variant: ""),
                                    policy: policy), slot: slot, now: now)
                        case 2:
                            if let found = reader.version(chain: chain, digest: bodies[choice].digest) {
                                store.demand.touch(found, now: now)
                                let body = store.hotBody(of: found)
                                #expect(body == nil || body?.digest == found.digest)
                            }
                        case 3:
                            if let found = reader.newest(
                                VersionKey(chain: chain, url: "/\(choice)", variant: ""))
                            {
                                let body = await store.loaded(found)
                                #expect(body == nil || body?.digest == found.digest)
                            }
                        case 4: store.upkeep.sweep(now: now)
                        default:
                            _ = store.statistics
                            if round % 50 == 0 { store.upkeep.flush() }
                        }
                    }
                }
            }
        }
        #expect(store.upkeep.flush(timeoutSeconds: 60))
        let index = store.index
        let all = index.allVersions()
        #expect(all.count == index.versionCount)
        #expect(!all.isEmpty && store.statistics.admissions > 0)
        #expect(index.chainCount <= 20)
        let rows = try folder.sqlite("SELECT id FROM version ORDER BY id").split(separator: "\n").compactMap {
            Int64($0)
        }
        #expect(rows == all.map(\.id).sorted())
        #expect(try folder.sqlite("SELECT count(*) FROM body") == "\(Set(all.map(\.digest)).count)")
        for version in all {
            #expect(
                index.find(
                    digest: version.digest, authority: "api.example",
                    url: PathAndQuery(path: version.chainKey.match)
                )
                    != nil)
        }
        let (pinned, reserved) = store.hot.withLock { ($0.pinnedBytes, $0.reservedBytes) }
        #expect((pinned, reserved) == (0, 0))
        #expect(store.statistics.memoryBytes <= 300_000)
        #expect(store.statistics.writeErrors == 0)
    }
}
