import Testing

@testable import Dictionaries

/// What is remembered of evicted versions, and how little.
@Suite struct TombstonesTests {
    private var policy: ChurnPolicy {
        var policy = ChurnPolicy()
        policy.tombstonesPerHalf = 4
        return policy
    }
    private let digests = (0..<40).map { sampleBody($0, count: 8).digest }

    @Test func `a digest that was buried is known, another is not`() {
        var tombstones = Tombstones()
        tombstones.bury(digests[0], hasRoom: true, now: 1000, policy: policy)
        #expect(tombstones.contains(digests[0]))
        #expect(!tombstones.contains(digests[1]))
    }

    @Test func `the newest are remembered, twice the half at most`() {
        var tombstones = Tombstones()
        for (number, digest) in digests.enumerated() {
            tombstones.bury(digest, hasRoom: true, now: 1000, policy: policy)
            #expect(tombstones.count <= 8)
            #expect(digests[max(0, number - 3)...number].allSatisfy(tombstones.contains))
        }
        #expect(!tombstones.contains(digests[0]))
    }

    @Test func `a digest is remembered for 12 hours and forgotten after a day`() {
        var tombstones = Tombstones()
        tombstones.bury(digests[0], hasRoom: true, now: 0, policy: policy)
        for now in [1, 43_199, 43_200, 86_399] {
            tombstones.forget(now: now, policy: policy)
            #expect(tombstones.contains(digests[0]))
        }
        tombstones.forget(now: 86_400, policy: policy)
        #expect(tombstones.count == 0)
    }

    @Test func `after days without an eviction nothing is left`() {
        var tombstones = Tombstones()
        tombstones.bury(digests[0], hasRoom: true, now: 0, policy: policy)
        tombstones.bury(digests[1], hasRoom: true, now: 43_200, policy: policy)
        tombstones.forget(now: 43_200 + 86_400, policy: policy)
        #expect(tombstones.count == 0)
    }

    @Test func `without room a digest takes the place of others of its chain, or none`() {
        var tombstones = Tombstones()
        tombstones.bury(digests[0], hasRoom: false, now: 1000, policy: policy)
        #expect(tombstones.count == 0)
        for digest in digests[0..<6] { tombstones.bury(digest, hasRoom: true, now: 1000, policy: policy) }
        for digest in digests[6..<20] {
            let before = tombstones.count
            tombstones.bury(digest, hasRoom: false, now: 1000, policy: policy)
            #expect(tombstones.count <= before)
        }
    }

    @Test func `a clock that is set back forgets nothing and keeps nothing for ever`() {
        var tombstones = Tombstones()
        tombstones.bury(digests[0], hasRoom: true, now: 1_000_000, policy: policy)
        tombstones.forget(now: 1000, policy: policy)
        #expect(tombstones.contains(digests[0]))
        tombstones.forget(now: 1000 + 86_400, policy: policy)
        #expect(tombstones.count == 0)
    }
}
