import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// Tests the order of eviction, which depends on the clients that hold a version.
@Suite struct StoreRetentionTests {
    private func chain(_ number: Int) -> ChainKey {
        ChainKey(authority: "api.example", match: "/\(number)")
    }

    @discardableResult
    private func admit(
        _ seed: Int, _ chainNumber: Int = 1, to state: inout StoreState, over former: Version? = nil,
        isImplied: Bool = false, keep: Int = 16, now: Int
    ) -> Version {
        let body = sampleBody(seed, count: 1)
        let facts = VersionFacts(
            digest: Digest(of: [UInt8]("body \(seed)".utf8).span), url: "/\(chainNumber)", variant: "",
            etag: nil, contentType: nil, bytes: 1, maxAge: 1 << 40)
        return state.admit(
            facts, body: body, chain: chain(chainNumber),
            policy: AdmissionPolicy(versions: keep, startsInProbation: isImplied), now: now, over: former
        ).version
    }

    /// Lets a client come back with a version and get an offer of a new one.
    @discardableResult
    private func renew(_ former: Version, _ seed: Int, in state: inout StoreState, now: Int) -> Version {
        state.advertised(former, now: now)
        return admit(seed, to: &state, over: former, now: now)
    }

    /// Returns the versions in the order of eviction.
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

    /// Returns the digests that remain after all silent versions are removed.
    private func left(_ state: inout StoreState, now: Int) -> Set<Digest> {
        var evicted = StoreState.Evicted()
        while state.evictSilent(now: now, into: &evicted) > 0 {}
        return Set(state.index.allVersions().map(\.digest))
    }

    @Test
    func `probation goes first, then newcomers' versions, then those that nobody holds, then held ones`() {
        var state = StoreState()
        let first = admit(1, to: &state, now: 100)
        let held = renew(first, 2, in: &state, now: 200)
        let newcomer = admit(3, 2, to: &state, now: 300)
        let probation = admit(4, 3, to: &state, isImplied: true, now: 1000)
        #expect(first.standing == .unheld && held.standing == .held && newcomer.standing == .newcomer)
        #expect(order(&state).map(\.digest) == [probation, newcomer, first, held].map(\.digest))
        #expect(state.index.versionCount == 0 && state.index.chainCount == 0)
    }

    @Test func `a thousand newcomers displace newcomers' versions alone`() {
        var state = StoreState()
        let held = (0..<8).map { renew(admit($0, to: &state, now: 1), 100 + $0, in: &state, now: 2) }
        for seed in 1000..<2000 { admit(seed, to: &state, keep: 20, now: 3) }
        let left = Set(state.index.allVersions().map(\.digest))
        #expect(held.allSatisfy { left.contains($0.digest) })
        #expect(left.count == 20)
    }

    @Test
    func `a client that comes back earns the place of the version that it has next, a newcomer does not`() {
        var state = StoreState()
        let first = admit(1, to: &state, now: 1)
        #expect(first.standing == .newcomer)
        state.advertised(first, now: 5)
        #expect(first.standing == .held)
        let second = admit(2, to: &state, over: first, now: 5)
        #expect(second.standing == .held && first.standing == .unheld)
        #expect((first.holders, second.holders) == (0, 1))
    }

    @Test
    func `who names a popular version a thousand times gives a place to as many as hold it, and it stays`() {
        var state = StoreState()
        let popular = admit(1, to: &state, now: 1)
        for _ in 0..<4 { state.offered(popular, over: nil, now: 1) }
        #expect(popular.holders == 5)
        let versions = (0..<1000).map { step in
            state.advertised(popular, now: 10)
            return admit(10 + step, to: &state, over: popular, keep: 5000, now: 10)
        }
        #expect(versions.count { $0.standing == .held } == 5)
        #expect(popular.standing == .spent)
        // There are enough newcomers, which go first.
        var evicted = StoreState.Evicted()
        let victims = (0..<20).flatMap { _ in
            let victims = state.popLeastWanted(bytes: 40 * popular.storedBytes, now: 11) { _ in false }
            state.remove(victims, reason: .size, into: &evicted)
            return victims
        }
        #expect(victims.count > 700 && !victims.contains { $0 === popular })
    }

    @Test func `a client whose last response was lost takes its place along, not a second one`() {
        var state = StoreState()
        let first = admit(1, to: &state, now: 1)
        let lost = renew(first, 2, in: &state, now: 100)
        let second = renew(first, 3, in: &state, now: 200)
        #expect(lost.standing == .unheld)
        #expect(second.standing == .held && second.holders == 1)
        // A client that has come back with its version holds it.
        state.advertised(second, now: 300)
        let third = renew(first, 4, in: &state, now: 300)
        #expect(second.standing == .held)
        #expect(third.standing == .newcomer)
    }

    @Test func `an offer of what the client came with changes nothing but the time`() {
        var state = StoreState()
        let version = admit(1, to: &state, now: 1)
        state.advertised(version, now: 9)
        state.offered(version, over: version, now: 9)
        #expect(version.holders == 1 && version.lastOffered == 9 && version.lastContact == 9)
    }

    /// A chain to which too few come back has the times of all.
    @Test(arguments: [1, 64])
    func `what nobody holds goes after the time that clients usually take, what is held after far longer`(
        chains: Int
    ) {
        var state = StoreState()
        // Sixty-four clients come every ten minutes.
        var held = (0..<64).map { admit($0, $0 % chains, to: &state, keep: 5000, now: 0) }
        for round in 1...4 {
            held = held.enumerated().map { number, version in
                let now = round * 600 + number
                state.advertised(version, now: now)
                return admit(
                    round * 100 + number, number % chains, to: &state, over: version, keep: 5000, now: now)
            }
        }
        let end = 4 * 600 + 64
        #expect(held.allSatisfy { left(&state, now: end).contains($0.digest) })
        #expect(left(&state, now: end + 1024) == Set(held.map(\.digest)))
        #expect(left(&state, now: end + 3000) == Set(held.map(\.digest)))
        let named = held[0]
        let isNamed = state.nameInLinks(named, replacing: nil, until: end + 20_000, now: end)
        #expect(isNamed)
        #expect(left(&state, now: end + 8000) == [named.digest], "a Link names it")
        #expect(left(&state, now: end + 20_000).isEmpty)
    }

    @Test func `what is advertised without an end never goes, though a flood comes back every second`() {
        var state = StoreState()
        var honest = admit(1, to: &state, now: 0)
        let flood = admit(2, to: &state, now: 0)
        for second in 1...20_000 {
            state.advertised(flood, now: second)
            if second % 600 == 0 { honest = renew(honest, 1000 + second, in: &state, now: second) }
            let digests = second % 60 == 0 ? left(&state, now: second) : [honest.digest]
            #expect(digests.contains(honest.digest), "at \(second)")
        }
    }

    @Test func `as long as nobody has come back nothing goes by itself`() {
        var state = StoreState()
        for seed in 0..<100 { admit(seed, to: &state, keep: 5000, now: 0) }
        #expect(left(&state, now: 30 * 86_400).count == 100)
    }

    @Test func `what nobody holds stays an hour while return times are unknown, to the second`() {
        var state = StoreState()
        let first = admit(1, to: &state, now: 0)
        let second = renew(first, 2, in: &state, now: 100)
        #expect(left(&state, now: 3_700) == [first.digest, second.digest])
        #expect(left(&state, now: 3_701) == [second.digest])
    }

    @Test func `requests of one second and the next are one return, which tells no time`() {
        var state = StoreState()
        let version = admit(1, to: &state, now: 0)
        for second in 1...64 { state.advertised(version, now: second) }
        #expect(left(&state, now: 64 + 3_601) == [version.digest])
        for number in 1...64 { state.advertised(version, now: 4_000 + 2 * number) }
        #expect(left(&state, now: 4_128 + 20_000).isEmpty, "two seconds apart, they are returns")
    }

    @Test func `a return to what several clients hold counts from the last offer, since any may have come`() {
        var state = StoreState()
        let popular = admit(1, to: &state, now: 0)
        state.offered(popular, over: nil, now: 0)
        for number in 1...32 { state.advertised(popular, now: 600 * number) }
        let first = admit(2, to: &state, now: 19_200)
        let second = renew(first, 3, in: &state, now: 19_201)
        #expect(first.standing == .unheld)
        #expect(left(&state, now: 21_201) == [popular.digest, first.digest, second.digest])
    }

    @Test func `another node's holders count, and only a client that it saw proves a version`() {
        var state = StoreState()
        let version = admit(1, to: &state, now: 10)
        state.addHolders(to: version, 2, contact: 0, now: 20)
        #expect(version.holders == 3 && !version.hasReturned && version.lastContact == 10)
        let unproven = state.retention.standing(of: version)
        state.addHolders(to: version, -1, contact: 15, now: 20)
        #expect(version.holders == 2 && version.hasReturned)
        #expect(version.lastContact == 15 && version.lastWanted == 15)
        let proven = state.retention.standing(of: version)
        #expect(unproven == .newcomer && proven == .held)
    }

    @Test func `of a chain those come first that are held, and of these the latest`() throws {
        var state = StoreState()
        let held = (0..<2).map { renew(admit($0, to: &state, now: 1), 10 + $0, in: &state, now: 2 + $0) }
        admit(20, to: &state, now: 9)
        let chain = try #require(state.index.chain(held[0].chainKey))
        let places = state.retention.places(of: chain, max: 2)
        let digests = places.map { state.index.version(at: $0).digest }
        #expect(digests == [held[1].digest, held[0].digest])
    }

    @Test func `pins go beyond a count as beyond bytes, and no more of them than must`() {
        let limits = [(1 << 20, 1), (1 << 20, 2), (1 << 20, 3), (2_050, 3), (2_049, 3)]
        var pins = Pins()
        for id in 1...3 {
            let facts = VersionFacts(digest: sampleBody(id).digest, url: "/", bytes: 1, maxAge: 10)
            pins.insert(
                Version(
                    facts, id: Int64(id), rank: Int64(id), chain: Chain(feedChain), .held(at: 0),
                    rare: RareState(pinnedUntil: UInt32(100 - id))))
        }
        #expect(pins.bytes == 3 * 1_025)
        let gone = limits.map { pins.beyond(Pins.Limits(bytes: $0, count: $1)).count }
        #expect(gone == [2, 1, 0, 1, 2])
        #expect(pins.beyond(Pins.Limits(bytes: 1 << 20, count: 1)) == [3, 2], "that end first")
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

    @Test func `a thousand that must stay hide what may go for a few searches at most`() {
        var state = StoreState()
        let kept = Set((0..<1000).map { admit($0, $0, to: &state, now: 100).id })
        let last = admit(1000, 1000, to: &state, now: 101)
        let found = (0..<10).flatMap { _ in
            state.popLeastWanted(bytes: last.storedBytes, now: 0) { kept.contains($0.id) }
        }
        #expect(found.map(\.digest) == [last.digest])
    }

    @Test func `ten thousand random steps keep counts, bytes, limits and order`() {
        let limits = StoreLimits(chains: 40, bytes: 40_000)
        var state = StoreState(limits: limits)
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(seed: seed)
        for step in 0..<10_000 {
            let now = 1000 + step / 4
            let present = state.index.allVersions().sorted { $0.id < $1.id }
            let some = present.randomElement(using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0: if let some { state.establish(some) }
            case 1: if let some { state.advertised(some, now: now) }
            case 2:
                var evicted = StoreState.Evicted()
                state.remove(present.shuffled(using: &random).prefix(3), reason: .age, into: &evicted)
            case 3:
                let other = present.randomElement(using: &random)
                if let some { state.offered(some, over: other, now: now) }
            default:
                admit(
                    .random(in: 0..<200, using: &random), .random(in: 0..<80, using: &random), to: &state,
                    over: Bool.random(using: &random) ? some : nil, isImplied: Bool.random(using: &random),
                    keep: 4, now: now)
            }
            let chains = Dictionary(grouping: state.index.allVersions(), by: \.chainKey)
            let probation = chains.values.filter { state.index.chain($0[0].chainKey)?.isEstablished == false }
            let bytes = probation.joined().reduce(0) { $0 + $1.storedBytes }
            let isRight =
                state.chainsInProbation == probation.count && state.bytesInProbation == bytes
                && state.retention.count == state.index.versionCount && state.order.count == chains.count
                && chains.values.allSatisfy { versions in
                    versions.count <= 4
                        && versions.allSatisfy { state.retention.standing(of: $0) == $0.standing }
                }
                && probation.count <= 8 && bytes <= 8000 && chains.count <= 40
            #expect(isRight, "seed \(seed), step \(step)")
            if !isRight { return }
        }
        let count = state.index.versionCount
        #expect(order(&state).count == count, "seed \(seed)")
    }
}
