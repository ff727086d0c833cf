import Testing

@testable import Dictionaries

@Suite struct StoreEvictionOrderTests {
    private func chain(_ number: Int) -> ChainKey {
        ChainKey(authority: "api.example", match: "/\(number)")
    }

    @discardableResult
    private func admit(
        _ seed: Int, _ chainNumber: Int, to state: inout StoreState, isImplied: Bool = false, keep: Int = 16,
        now: Int
    ) -> Version {
        let body = sampleBody(seed, count: 1)
        let facts = VersionFacts(
            digest: Digest(of: [UInt8]("body \(seed)".utf8).span), url: "/\(chainNumber)", variant: "",
            etag: nil,
            contentType: nil, bytes: 1, maxAge: 1 << 40)
        return state.admit(
            facts, body: body, chain: chain(chainNumber),
            pattern: Chain.pattern(of: chain(chainNumber)),
            policy: AdmissionPolicy(versions: keep, startsInProbation: isImplied), now: now
        ).version
    }

    /// The order in which everything would go.
    private func order(_ state: inout StoreState) -> [Version] {
        var all: [Version] = []
        while true {
            let next = state.popLeastWanted(bytes: 1, now: 0) { _ in false }
            if next.isEmpty { return all }
            var evicted = StoreState.Evicted()
            state.remove(next, reason: .size, into: &evicted)
            all += next
        }
    }

    @Test func `probation goes first, then what was wanted the longest ago, the newest of a chain last`() {
        var state = StoreState()
        let newestOld = admit(1, 1, to: &state, now: 100)
        let past = admit(2, 2, to: &state, now: 200)
        let pastTouched = admit(3, 2, to: &state, now: 201)
        let newest = admit(4, 2, to: &state, now: 202)
        let probation = admit(5, 3, to: &state, isImplied: true, now: 1000)
        let probationNewest = admit(6, 3, to: &state, isImplied: true, now: 1001)
        _ = past.want(at: 500)
        _ = newestOld.want(at: 150)
        #expect(
            order(&state).map(\.digest)
                == [probation, probationNewest, pastTouched, past, newestOld, newest].map(\.digest))
        #expect(state.index.versionCount == 0)
        #expect(state.index.chainCount == 0)
    }

    @Test func `what becomes the newest, by returning or as the newest goes, has its place`() {
        var state = StoreState()
        admit(1, 1, to: &state, now: 100)
        let second = admit(2, 1, to: &state, now: 101)
        let third = admit(3, 1, to: &state, now: 102)
        let returned = admit(1, 1, to: &state, now: 103)
        var evicted = StoreState.Evicted()
        state.remove([returned], reason: .damaged, into: &evicted)
        _ = second.want(at: 900)
        #expect(order(&state).map(\.digest) == [second, third].map(\.digest))
    }

    @Test(arguments: [-3, 1, 2] as [Int64])
    func `what is read from disk has the place of its rank`(rank: Int64) throws {
        var state = StoreState()
        let old = admit(1, 1, to: &state, now: 500)
        let new = admit(2, 1, to: &state, now: 501)
        let body = sampleBody(3, count: 1)
        let facts = VersionFacts(
            digest: body.digest, url: "/1", variant: "", etag: nil, contentType: nil, bytes: 1, maxAge: 1000)
        let home = try #require(state.index.chain(chain(1)))
        // Of the same rank as another it comes after it, as its row has the higher number.
        let row = Version(facts, id: .max, rank: rank, home: home, admittedAt: 100, lastWanted: 100)
        state.insert(row)
        #expect(state.order.counts == (versions: 3, chains: 1))
        #expect(
            order(&state).map(\.digest) == (rank < 2 ? [row, old, new] : [old, new, row]).map(\.digest))
    }

    @Test func `a chain that is established takes its versions along`() {
        var state = StoreState()
        let old = admit(1, 1, to: &state, isImplied: true, now: 100)
        let new = admit(2, 1, to: &state, isImplied: true, now: 101)
        let other = admit(3, 2, to: &state, isImplied: true, now: 500)
        state.establish(new)
        state.establish(new)
        #expect(state.chainsInProbation == 1)
        #expect(order(&state).map(\.digest) == [other, old, new].map(\.digest))
        #expect(state.chainsInProbation == 0)
        #expect(state.bytesInProbation == 0)
    }

    @Test func `victims are found among others that must stay, which keep their place`() {
        var state = StoreState()
        let versions = (0..<10).map { admit($0, $0, to: &state, now: 100 + $0) }
        let kept = Set(versions[0..<5].map(\.id))
        let victims = state.popLeastWanted(bytes: versions[5].storedBytes, now: 0) { kept.contains($0.id) }
        #expect(victims.map(\.digest) == [versions[5].digest])
        var evicted = StoreState.Evicted()
        state.remove(victims, reason: .size, into: &evicted)
        #expect(order(&state).map(\.digest) == (versions[0..<5] + versions[6...]).map(\.digest))
    }

    @Test func `ten thousand random steps keep counts, bytes, limits and order`() {
        let limits = StoreLimits(chains: 40, bytes: 40_000)
        var state = StoreState(limits: limits)
        var random = SystemRandomNumberGenerator()
        for step in 0..<10_000 {
            let now = 1000 + step / 4
            let present = state.index.allVersions()
            switch Int.random(in: 0..<8, using: &random) {
            case 0: if let version = present.randomElement() { state.establish(version) }
            case 1: _ = present.randomElement()?.want(at: now)
            case 2:
                var evicted = StoreState.Evicted()
                state.remove(present.shuffled().prefix(3), reason: .age, into: &evicted)
            default:
                admit(
                    .random(in: 0..<200, using: &random), .random(in: 0..<80, using: &random), to: &state,
                    isImplied: Bool.random(using: &random), keep: 4, now: now)
            }
            let all = state.index.allVersions()
            let probation = state.index.allChains().filter { !$0.chain.isEstablished }
            let bytes = probation.flatMap(\.all).reduce(0) { $0 + $1.storedBytes }
            let isRight =
                state.chainsInProbation == probation.count && state.bytesInProbation == bytes
                && state.order.counts == (all.count, state.index.chainCount)
                && probation.count <= 8 && bytes <= 8000 && state.index.chainCount <= 40
            #expect(isRight)
            if !isRight { return }
        }
        let versions = state.index.allVersions()
        let classes = Dictionary(
            uniqueKeysWithValues: versions.map { ($0.id, state.index[$0.chain]?.evictionClass(of: $0)) })
        let firstClass = order(&state)
        #expect(firstClass.count == versions.count)
        // The class of a version may rise as others of its chain go, so only probation is sure to be first.
        let probation = firstClass.filter { classes[$0.id] == .probation }
        #expect(firstClass.prefix(probation.count).map(\.id) == probation.map(\.id))
        #expect(probation.map(\.lastWanted) == probation.map(\.lastWanted).sorted())
    }
}
