import Dispatch
import Synchronization
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct DictionaryIndexTests {
    private let key = ChainKey(authority: "api.example", match: "/1")
    private let body = sampleBody(1)

    private var facts: VersionFacts {
        VersionFacts(
            digest: body.digest, url: "/1", bytes: 1000, maxAge: 10)
    }

    /// Runs `change` 5,000 times while other threads look for the body; returns the number of look-ups that
    /// found nothing.
    private func misses(in index: DictionaryIndex, during change: (Int) -> Void) -> Int {
        let isOver = Atomic(false)
        let misses = Atomic(0)
        let group = DispatchGroup()
        let (key, digest) = (key, body.digest)
        let lookups: [@Sendable () -> Version?] = [
            { index.find(digest: digest, authority: "api.example", url: PathAndQuery(path: "/1")) },
            { index.version(VersionKey(chain: key, url: "/1", variant: ""), digest: digest) },
        ]
        for lookup in lookups {
            DispatchQueue.global().async(group: group) {
                while !isOver.load(ordering: .relaxed) {
                    if lookup() == nil { misses.add(1, ordering: .relaxed) }
                }
            }
        }
        for step in 1...5000 { change(step) }
        isOver.store(true, ordering: .relaxed)
        group.wait()
        return misses.load(ordering: .relaxed)
    }

    @Test func `who looks for a version while its body returns finds it every time`() {
        var state = StoreState()
        func admit(maxAge: Int) -> Version {
            let facts = VersionFacts(
                digest: body.digest, url: "/1", bytes: 1000,
                maxAge: maxAge)
            return state.admit(
                facts, body: body, chain: key,
                policy: AdmissionPolicy(versions: 4), now: 1
            )
            .version
        }
        let first = admit(maxAge: 0)
        var last = first
        #expect(misses(in: state.index) { last = admit(maxAge: $0) } == 0)
        #expect(last !== first && last.id == first.id)
        #expect(state.index.versions(of: key).map(\.maxAge) == [5000])
        #expect(state.index.version(row: first.id) === last)
        #expect(state.retention.count == 1 && state.order.count == 1)
    }

    @Test func `a version that is replaced by another object is found every time`() throws {
        var state = StoreState()
        let first = state.admit(
            facts, body: body, chain: key,
            policy: AdmissionPolicy(versions: 4), now: 1
        ).version
        var current = first
        let missed = misses(in: state.index) { step in
            let row = Version(
                facts, id: first.id, rank: first.rank + Int64(step), chain: first.chain,
                .held(at: 1))
            state.replace(current, by: row)
            current = row
        }
        #expect(missed == 0)
        #expect(state.index.versions(of: key).map(\.rank) == [first.rank + 5000])
        #expect(state.index.versionCount == 1)
        #expect(state.retention.count == 1 && state.order.count == 1)
    }

    @Test func `a version that gets the number of another row is missed at no time`() throws {
        var state = StoreState()
        let first = state.admit(
            facts, body: body, chain: key,
            policy: AdmissionPolicy(versions: 4), now: 1
        ).version
        var current = first
        let missed = misses(in: state.index) { step in
            let row = Version(
                facts, id: first.id + Int64(step), rank: first.rank + Int64(step), chain: first.chain,
                .held(at: 1))
            state.replace(current, by: row)
            current = row
        }
        #expect(missed == 0)
        #expect(state.index.versions(of: key).map(\.id) == [first.id + 5000])
        #expect(state.index.version(row: first.id) == nil)
        #expect(state.index.versionCount == 1)
        #expect(state.retention.count == 1 && state.order.count == 1)
    }
}
