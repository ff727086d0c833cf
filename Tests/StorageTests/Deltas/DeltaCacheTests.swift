import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

private let scope = DeltaScope.public

private func body(_ number: Int) -> Body {
    Body(Feed.bytes(version: number, items: 20) + Noise.bytes(200, seed: UInt64(number)))
}

private func dictionary(_ number: Int) -> Body { Body(Feed.bytes(version: number + 3, items: 20)) }

/// Returns the key of the delta of body `number` over one dictionary.
private func key(
    _ number: Int, over dictionaryNumber: Int = 0, _ coding: ContentCoding = .dcz,
    in scope: DeltaScope = scope
) -> DeltaKey {
    DeltaKey(
        body: body(number).digest, dictionary: dictionary(dictionaryNumber).digest, coding: coding,
        scope: scope)
}

/// Makes the delta that the same arguments name.
private func delta(
    _ number: Int, over dictionaryNumber: Int = 0, _ coding: ContentCoding = .dcz,
    in scope: DeltaScope = scope, effort: Effort = .live
) throws -> VerifiedDelta {
    let (body, dictionary) = (body(number), dictionary(dictionaryNumber))
    let options = EncoderOptions(effort: effort, dictionary: .reference(dictionary))
    let bytes = body.bytes
    let coded = try Codec.encode(bytes.span, coding, options: options)
    return try #require(VerifiedDelta(coded, of: body, over: dictionary, coding, in: scope))
}

extension DeltaCache {
    /// Makes a delta, as the first client that needs it does.
    fileprivate func make(_ key: DeltaKey, _ outcome: DeltaOutcome<VerifiedDelta>) {
        guard case .lead(let turn) = join(key, { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        turn.finish(outcome)
    }

    /// Makes a delta under its own key.
    fileprivate func make(_ delta: VerifiedDelta) { make(delta.key, .coded(delta)) }

    fileprivate func outcome(_ key: DeltaKey) -> DeltaOutcome<[UInt8]>? { find(key)?.outcome }
}

@Suite(.timeLimit(.minutes(40))) struct DeltaCacheTests {
    @Test func `a delta is found by body, dictionary, coding and scope together, and by nothing less`() throws
    {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let delta = try delta(1)
        cache.make(delta)
        #expect(cache.outcome(key(1)) == .coded(delta.bytes))
        for other in [
            key(2), key(1, over: 1), key(1, .dcb), key(1, in: .private(chain: [])),
            key(1, in: .private(chain: [7])),
        ] {
            #expect(cache.outcome(other) == nil)
        }
    }

    @Test func `a delta of a private chain is found by no other chain and not by the public`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let delta = try delta(1, in: .private(chain: [1, 2]))
        cache.make(delta)
        #expect(cache.outcome(key(1, in: .private(chain: [1, 2]))) == .coded(delta.bytes))
        #expect(cache.outcome(key(1, in: .private(chain: [1]))) == nil)
        #expect(cache.outcome(key(1, in: .private(chain: [1, 2, 0]))) == nil)
        #expect(cache.outcome(key(1)) == nil)
        // Other clients do not wait for it, since the time would reveal that it is being made.
        guard case .lead(let own) = cache.join(key(2, in: .private(chain: [1])), { { _ in } }),
            case .lead(let other) = cache.join(key(2, in: .private(chain: [2])), { { _ in } }),
            case .lead(let all) = cache.join(key(2), { { _ in } })
        else {
            Issue.record("one waits for another")
            return
        }
        for turn in [own, other, all] { turn.finish(.notShorter) }
    }

    @Test func `that a delta is no shorter than its body is remembered as well`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(key(1), .notShorter)
        #expect(cache.outcome(key(1)) == .notShorter)
    }

    @Test func `a delta counts with its bytes and with what it takes to find it`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let coded = try delta(1).bytes
        var grown: [UInt8] = []
        grown.reserveCapacity(100_000)
        grown += coded
        cache.make(
            try #require(VerifiedDelta(grown, of: body(1), over: dictionary(0), .dcz, in: scope)))
        let range = coded.count + 100..<coded.count + 1_000
        #expect(range.contains(cache.statistics.bytes), "not the room that the encoder left")
        cache.make(key(2), .notShorter)
        #expect(cache.statistics.bytes > coded.count + 200)
        let (own, all) = (DeltaCache(bytesMax: 1 << 20), DeltaCache(bytesMax: 1 << 20))
        own.make(key(1, in: .private(chain: [UInt8](repeating: 7, count: 32))), .notShorter)
        all.make(key(1), .notShorter)
        #expect(own.statistics.bytes >= all.statistics.bytes + 64, "the name of its chain, too")
    }

    @Test func `the budget holds a delta of exactly its size, and none of a byte more`() throws {
        let roomy = DeltaCache(bytesMax: 1 << 20)
        let delta = try delta(1)
        roomy.make(delta)
        let size = roomy.statistics.bytes
        for (budget, isKept) in [(size, true), (size - 1, false), (0, false)] {
            let cache = DeltaCache(bytesMax: budget)
            cache.make(delta)
            #expect((cache.outcome(key(1)) != nil) == isKept)
            #expect(cache.statistics.bytes == (isKept ? size : 0))
        }
    }

    @Test func `the delta used longest ago goes first`() throws {
        let deltas = try (1...4).map { try delta($0) }
        let roomy = DeltaCache(bytesMax: 1 << 20)
        for delta in deltas { roomy.make(delta) }
        let cache = DeltaCache(bytesMax: roomy.statistics.bytes - 1)
        for delta in deltas.prefix(3) { cache.make(delta) }
        #expect(cache.outcome(key(1)) != nil)
        cache.make(deltas[3])
        #expect((1...4).map { cache.outcome(key($0)) != nil } == [true, false, true, true])
        #expect(cache.statistics.evictions == 1)
    }

    // MARK: One flight

    @Test func `64 that ask at once: one makes it, all get it`() async throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let (key, delta) = (key(1), try delta(1))
        let made = Guarded(0)
        let results = await withTaskGroup(of: DeltaOutcome<[UInt8]>.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        switch cache.join(key, { { continuation.resume(returning: $0) } }) {
                        case .hit(let hit): continuation.resume(returning: hit.outcome)
                        case .waiting: break
                        case .lead(let turn):
                            made.withLock { $0 += 1 }
                            turn.finish(.coded(delta))
                            continuation.resume(returning: .coded(delta.bytes))
                        }
                    }
                }
            }
            return await group.reduce(into: [DeltaOutcome<[UInt8]>]()) { $0.append($1) }
        }
        #expect(results == Array(repeating: .coded(delta.bytes), count: 64))
        #expect(made.withLock { $0 } == 1)
        let statistics = cache.statistics
        #expect(statistics.misses == 1)
        #expect(statistics.hits + statistics.shared == 63)
    }

    @Test(arguments: [DeltaFailure.coding, .inexact, .busy])
    func `a failure reaches all who wait, and is not kept`(failure: DeltaFailure) throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome<[UInt8]>]>([])
        guard case .lead(let turn) = cache.join(key(1), { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        for _ in 0..<3 {
            guard case .waiting = cache.join(key(1), { { outcome in told.withLock { $0.append(outcome) } } })
            else {
                Issue.record("does not wait")
                return
            }
        }
        turn.finish(.failed(failure))
        #expect(told.withLock { $0 } == Array(repeating: .failed(failure), count: 3))
        #expect(cache.outcome(key(1)) == nil)
        let delta = try delta(1)
        cache.make(delta)
        #expect(cache.outcome(key(1)) == .coded(delta.bytes))
    }

    @Test func `a turn that is dropped without a word tells all who wait that there was no place`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome<[UInt8]>]>([])
        do {
            let joined = cache.join(key(1)) { { _ in } }
            guard case .lead = joined else {
                Issue.record("not the first")
                return
            }
            _ = cache.join(key(1)) { { outcome in told.withLock { $0.append(outcome) } } }
            #expect(told.withLock { $0 }.isEmpty)
            withExtendedLifetime(joined) {}
        }
        #expect(told.withLock { $0 } == [.failed(.busy)])
        cache.make(try delta(1))
    }

    @Test(arguments: [true, false])
    func `nobody waits behind a client's many jobs, and whoever is first ends the waiting of all`(
        isCrowdedFirst: Bool
    ) throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome<[UInt8]>]>([])
        func wait() -> DeltaCache.Waiter { { outcome in told.withLock { $0.append(outcome) } } }
        guard case .lead(let crowded) = cache.join(key(1), isCrowded: true, { { _ in } }),
            case .waiting = cache.join(key(1), isCrowded: true, wait),
            case .lead(let other) = cache.join(key(1), wait), case .waiting = cache.join(key(1), wait),
            case .waiting = cache.join(key(1), isCrowded: true, wait)
        else {
            Issue.record("the second turn is for the first client that has little under way")
            return
        }
        let delta = try delta(1)
        let (first, second) = isCrowdedFirst ? (crowded, other) : (other, crowded)
        first.finish(.failed(.busy))
        #expect(told.withLock { $0 }.isEmpty, "the other turn may make it")
        second.finish(.coded(delta))
        #expect(told.withLock { $0 } == Array(repeating: .coded(delta.bytes), count: 3))
        #expect(cache.outcome(key(1)) == .coded(delta.bytes) && cache.statistics.misses == 2)
    }

    @Test func `of two turns of one delta the first that is made stays`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        guard case .lead(let crowded) = cache.join(key(1), isCrowded: true, { { _ in } }),
            case .lead(let other) = cache.join(key(1), { { _ in } })
        else {
            Issue.record("not two turns")
            return
        }
        let (short, long) = (try delta(1, effort: .kept), try delta(1, effort: .fast))
        other.finish(.coded(short))
        crowded.finish(.coded(long))
        #expect(cache.outcome(key(1)) == .coded(short.bytes))
    }

    @Test func `a turn that is late ends the waiting of no later one`() throws {
        let cache = DeltaCache(bytesMax: 0)
        let told = Guarded<[DeltaOutcome<[UInt8]>]>([])
        guard case .lead(let late) = cache.join(key(1), isCrowded: true, { { _ in } }),
            case .lead(let first) = cache.join(key(1), { { _ in } })
        else {
            Issue.record("not two turns")
            return
        }
        first.finish(.notShorter)
        // There is no room to keep it, so that the next client makes it once more.
        guard case .lead(let next) = cache.join(key(1), isCrowded: true, { { _ in } }),
            case .waiting = cache.join(
                key(1), isCrowded: true, { { outcome in told.withLock { $0.append(outcome) } } })
        else {
            Issue.record("not a new turn")
            return
        }
        late.finish(.failed(.busy))
        #expect(told.withLock { $0 }.isEmpty)
        next.finish(.notShorter)
        #expect(told.withLock { $0 } == [.notShorter])
    }

    @Test func `only the first word of a turn counts`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        guard case .lead(let turn) = cache.join(key(1), { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        let (first, second) = (try delta(1), try delta(1, effort: .kept))
        #expect(first != second)
        turn.finish(.coded(first))
        turn.finish(.coded(second))
        #expect(cache.outcome(key(1)) == .coded(first.bytes))
    }

    @Test(arguments: [
        (2, 0, ContentCoding.dcz, scope), (1, 1, .dcz, scope), (1, 0, .dcb, scope), (1, 0, .dcz, .unlisted),
    ])
    func `a delta with another key is not kept, and nobody gets it`(
        number: Int, dictionary: Int, coding: ContentCoding, scope: DeltaScope
    ) throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome<[UInt8]>]>([])
        guard case .lead(let turn) = cache.join(key(1), { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        _ = cache.join(key(1)) { { outcome in told.withLock { $0.append(outcome) } } }
        let other = try delta(number, over: dictionary, coding, in: scope)
        turn.finish(.coded(other))
        #expect(told.withLock { $0 } == [.failed(.inexact)])
        #expect(cache.outcome(key(1)) == nil)
        #expect(cache.outcome(other.key) == nil)
    }

    // MARK: Worth the strongest coding

    @Test func `the third address that asks makes a delta worth the strongest coding, once`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(try delta(1))
        let asked = [5, 5, 6, 5, 6, 7, 8, 7, 9].map { cache.recordPeer($0, of: key(1)) }
        #expect(asked == [false, false, false, false, false, true, false, false, false])
        #expect(cache.find(key(1))?.wantsPeers == false)
        cache.cancelStrongest(key(1))
        #expect(cache.find(key(1))?.wantsPeers == true)
        #expect(!cache.recordPeer(5, of: key(1)))
        #expect(cache.recordPeer(7, of: key(1)), "asked for again, for there was no place")
    }

    @Test func `addresses that ask for different deltas are not added up`() throws {
        let cache = DeltaCache(bytesMax: 1 << 20)
        for number in 1...2 { cache.make(try delta(number)) }
        #expect(!cache.recordPeer(1, of: key(1)))
        #expect(!cache.recordPeer(2, of: key(1)))
        #expect(!cache.recordPeer(3, of: key(2)))
        #expect(!cache.recordPeer(4, of: key(3)), "of what is not there")
    }

    @Test func `a delta is replaced by a shorter one only`() throws {
        let (long, short) = (try delta(1, effort: .fast), try delta(1, effort: .kept))
        try #require(short.bytes.count < long.bytes.count)
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(long)
        #expect(!cache.replace(with: long))
        #expect(cache.outcome(key(1)) == .coded(long.bytes))
        #expect(cache.replace(with: short))
        #expect(cache.outcome(key(1)) == .coded(short.bytes))
        #expect(!cache.replace(with: long))
        #expect(cache.outcome(key(1)) == .coded(short.bytes))
        #expect(!cache.replace(with: try delta(2)), "nothing is there")
        #expect(cache.outcome(key(2)) == nil)
    }

    @Test func `only bytes that decode to exactly the body make a verified delta`() throws {
        let coded = try delta(1).bytes
        let verified = { (coded: [UInt8], body: Body, dictionary: Body) in
            VerifiedDelta(coded, of: body, over: dictionary, .dcz, in: scope)
        }
        #expect(verified(coded, body(1), dictionary(0)) != nil)
        #expect(verified(coded, body(2), dictionary(0)) == nil)
        #expect(verified(coded, body(1), dictionary(1)) == nil)
        #expect(verified(coded.dropLast(), body(1), dictionary(0)) == nil)
        #expect(verified(body(1).bytes, body(1), dictionary(0)) == nil)
    }
}
