import TestSupport
import Testing

@testable import Dictionaries

private let scope = DeltaScope.public

/// Returns the key of the delta of body `number` over one dictionary.
private func key(
    _ number: Int, over dictionary: Int = 0, _ coding: ContentCoding = .dcz, in scope: DeltaScope = scope
) -> DeltaKey {
    let digest = { (text: String) in Digest(of: Array(text.utf8).span) }
    return DeltaKey(
        body: digest("b\(number)"), dictionary: digest("d\(dictionary)"), coding: coding, scope: scope)
}

extension DeltaCache {
    /// Makes a delta, as the first client that needs it does.
    fileprivate func make(_ key: DeltaKey, _ outcome: DeltaOutcome) {
        guard case .lead(let turn) = join(key, { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        turn.finish(outcome)
    }

    fileprivate func outcome(_ key: DeltaKey) -> DeltaOutcome? { find(key)?.outcome }
}

@Suite(.timeLimit(.minutes(10))) struct DeltaCacheTests {
    @Test func `a delta is found by body, dictionary, coding and scope together, and by nothing less`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(key(1), .coded([1]))
        #expect(cache.outcome(key(1)) == .coded([1]))
        for other in [
            key(2), key(1, over: 1), key(1, .dcb), key(1, in: .private(chain: [])),
            key(1, in: .private(chain: [7])),
        ] {
            #expect(cache.outcome(other) == nil)
        }
    }

    @Test func `a delta of a private chain is found by no other chain and not by the public`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(key(1, in: .private(chain: [1, 2])), .coded([1]))
        #expect(cache.outcome(key(1, in: .private(chain: [1, 2]))) == .coded([1]))
        #expect(cache.outcome(key(1, in: .private(chain: [1]))) == nil)
        #expect(cache.outcome(key(1, in: .private(chain: [1, 2, 0]))) == nil)
        #expect(cache.outcome(key(1)) == nil)
        // Nobody waits for it either, since the time would reveal that it is being made.
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

    @Test func `a delta counts with its bytes and with what it takes to find it`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        var grown: [UInt8] = []
        grown.reserveCapacity(100_000)
        grown += [UInt8](repeating: 1, count: 1_000)
        cache.make(key(1), .coded(grown))
        #expect((1_100..<2_000).contains(cache.statistics.bytes), "not the room that the encoder left")
        cache.make(key(2), .notShorter)
        #expect(cache.statistics.bytes > 1_200)
        #expect(cache.statistics.count == 2)
    }

    @Test func `the budget holds a delta of exactly its size, and none of a byte more`() {
        let roomy = DeltaCache(bytesMax: 1 << 20)
        roomy.make(key(1), .coded([UInt8](repeating: 1, count: 500)))
        let size = roomy.statistics.bytes
        for (budget, isKept) in [(size, true), (size - 1, false), (0, false)] {
            let cache = DeltaCache(bytesMax: budget)
            cache.make(key(1), .coded([UInt8](repeating: 1, count: 500)))
            #expect((cache.outcome(key(1)) != nil) == isKept)
            #expect(cache.statistics.bytes == (isKept ? size : 0))
        }
    }

    @Test func `the delta used longest ago goes first`() {
        let roomy = DeltaCache(bytesMax: 1 << 20)
        roomy.make(key(1), .coded([1]))
        let cache = DeltaCache(bytesMax: roomy.statistics.bytes * 3)
        for number in 1...3 { cache.make(key(number), .coded([1])) }
        #expect(cache.outcome(key(1)) != nil)
        cache.make(key(4), .coded([1]))
        #expect((1...4).map { cache.outcome(key($0)) != nil } == [true, false, true, true])
        #expect(cache.statistics.evictions == 1)
    }

    // MARK: One flight

    @Test func `64 that ask at once: one makes it, all get it`() async {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let made = Guarded(0)
        let results = await withTaskGroup(of: DeltaOutcome.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        switch cache.join(key(1), { { continuation.resume(returning: $0) } }) {
                        case .hit(let hit): continuation.resume(returning: hit.outcome)
                        case .waiting: break
                        case .lead(let turn):
                            made.withLock { $0 += 1 }
                            turn.finish(.coded([1, 2, 3]))
                            continuation.resume(returning: .coded([1, 2, 3]))
                        }
                    }
                }
            }
            return await group.reduce(into: [DeltaOutcome]()) { $0.append($1) }
        }
        #expect(results == Array(repeating: .coded([1, 2, 3]), count: 64))
        #expect(made.withLock { $0 } == 1)
        let statistics = cache.statistics
        #expect(statistics.misses == 1)
        #expect(statistics.hits + statistics.shared == 63)
    }

    @Test(arguments: [DeltaOutcome.failed(.coding), .failed(.inexact), .failed(.busy)])
    func `a failure reaches all who wait, and is not kept`(failure: DeltaOutcome) {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome]>([])
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
        turn.finish(failure)
        #expect(told.withLock { $0 } == [failure, failure, failure])
        #expect(cache.outcome(key(1)) == nil)
        cache.make(key(1), .coded([1]))
        #expect(cache.outcome(key(1)) == .coded([1]))
    }

    @Test func `a turn that is dropped without a word tells all who wait that there was no place`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        let told = Guarded<[DeltaOutcome]>([])
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
        cache.make(key(1), .coded([1]))
    }

    @Test func `only the first word of a turn counts`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        guard case .lead(let turn) = cache.join(key(1), { { _ in } }) else {
            Issue.record("not the first")
            return
        }
        turn.finish(.coded([1]))
        turn.finish(.coded([2]))
        #expect(cache.outcome(key(1)) == .coded([1]))
    }

    // MARK: Worth the strongest coding

    @Test func `the third address that asks makes a delta worth the strongest coding, once`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(key(1), .coded([1]))
        let asked = [5, 5, 6, 5, 6, 7, 8, 7, 9].map { cache.note(peer: $0, of: key(1)) }
        #expect(asked == [false, false, false, false, false, true, false, false, false])
        #expect(cache.find(key(1))?.wantsPeers == false)
        cache.dropStrongest(key(1))
        #expect(cache.find(key(1))?.wantsPeers == true)
        #expect(!cache.note(peer: 5, of: key(1)))
        #expect(cache.note(peer: 7, of: key(1)), "asked for again, for there was no place")
    }

    @Test func `addresses that ask for different deltas are not added up`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        for number in 1...2 { cache.make(key(number), .coded([1])) }
        #expect(!cache.note(peer: 1, of: key(1)))
        #expect(!cache.note(peer: 2, of: key(1)))
        #expect(!cache.note(peer: 3, of: key(2)))
        #expect(!cache.note(peer: 4, of: key(3)), "of what is not there")
    }

    @Test func `a delta is replaced by a shorter one only`() {
        let cache = DeltaCache(bytesMax: 1 << 20)
        cache.make(key(1), .coded([1, 2, 3]))
        #expect(!cache.replace(key(1), with: [9, 9, 9]))
        #expect(!cache.replace(key(1), with: [9, 9, 9, 9]))
        #expect(cache.outcome(key(1)) == .coded([1, 2, 3]))
        #expect(cache.replace(key(1), with: [9, 9]))
        #expect(cache.outcome(key(1)) == .coded([9, 9]))
        #expect(!cache.replace(key(2), with: []), "nothing is there")
        #expect(cache.outcome(key(2)) == nil)
    }
}
