import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct DemandQueueTests {
    private func chain(_ rank: Int, wantedAt second: Int) -> Chain {
        let chain = Chain(ChainKey(authority: "api.example", match: "/\(rank)"))
        chain.begin(rank: Int64(rank))
        chain.want(at: second)
        return chain
    }

    private func ranks(_ queue: inout DemandQueue) -> [Int64] {
        var ranks: [Int64] = []
        while let next = queue.popFirst() { ranks.append(next.firstRank) }
        return ranks
    }

    @Test func `the least wanted goes first, of those wanted in one second the older`() {
        var queue = DemandQueue()
        for (rank, second) in [5, 3, 3, 9, 1, 5].enumerated() {
            queue.insert(chain(rank, wantedAt: second))
        }
        #expect(queue.count == 6)
        let order = ranks(&queue)
        #expect(order == [4, 1, 2, 0, 5, 3])
        #expect(queue.count == 0)
    }

    @Test func `what was wanted again goes when it is its turn by then`() {
        var queue = DemandQueue()
        let chains = (0..<10).map { chain($0, wantedAt: $0) }
        for chain in chains { queue.insert(chain) }
        chains[0].want(at: 7)
        chains[2].want(at: 100)
        let order = ranks(&queue)
        #expect(order == [1, 3, 4, 5, 6, 0, 7, 8, 9, 2])
    }

    @Test func `what is taken out is not there, and out of another queue nothing is taken`() {
        var queue = DemandQueue()
        var other = DemandQueue()
        let chains = (0..<10).map { chain($0, wantedAt: $0) }
        for chain in chains.dropLast() { queue.insert(chain) }
        other.insert(chains[9])
        let isRemoved = [
            queue.remove(chains[4]), queue.remove(chains[4]), queue.remove(chains[9]),
            other.remove(chains[0]),
        ]
        #expect(isRemoved == [true, false, false, false])
        let order = ranks(&queue)
        #expect(order == [0, 1, 2, 3, 5, 6, 7, 8])
        #expect(other.count == 1)
    }

    @Test func `a chain that is inserted again is there once, at its new place`() {
        var queue = DemandQueue()
        let chains = (0..<5).map { chain($0, wantedAt: $0 + 1) }
        for chain in chains + chains { queue.insert(chain) }
        chains[3].turnBack(to: 0)
        queue.insert(chains[3])
        #expect(queue.count == 5)
        let order = ranks(&queue)
        #expect(order == [3, 0, 1, 2, 4])
    }

    @Test(arguments: 0..<4)
    func `after any steps it is in order`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = DemandQueue()
        var expected: [Chain] = []
        for step in 0..<3000 {
            // The queue grows past some blocks, shrinks to nothing, and grows again.
            let isShrinking = (step / 1000).isMultiple(of: 2) == false
            if random.next() % 8 < (isShrinking ? 1 : 6) {
                let chain = chain(step, wantedAt: Int(random.next() % 500))
                queue.insert(chain)
                expected.append(chain)
            } else if let place = expected.indices.randomElement(using: &random) {
                if random.next() % 4 == 0 {
                    expected[place].want(at: expected[place].wantedUntil + Int(random.next() % 100))
                } else {
                    let isRemoved = queue.remove(expected.remove(at: place))
                    #expect(isRemoved)
                }
            }
        }
        #expect(queue.count == expected.count)
        let order = ranks(&queue)
        let sorted = expected.sorted { ($0.wantedUntil, $0.firstRank) < ($1.wantedUntil, $1.firstRank) }
        #expect(order == sorted.map(\.firstRank))
    }
}
