import Primitives
import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct DemandQueueTests {
    private final class Thing: DemandQueueElement {
        let rank: Int64
        private let numbers: Guarded<(queuePlace: Int, lastWanted: Int)>

        init(_ rank: Int, lastWanted: Int) {
            self.rank = Int64(rank)
            numbers = Guarded((queuePlace: 0, lastWanted: lastWanted))
        }

        var queuePlace: Int {
            get { numbers.withLock { $0.queuePlace } }
            set { numbers.withLock { $0.queuePlace = newValue } }
        }
        var lastWanted: Int {
            get { numbers.withLock { $0.lastWanted } }
            set { numbers.withLock { $0.lastWanted = newValue } }
        }
    }

    private func ranks(_ queue: inout DemandQueue<Thing>) -> [Int64] {
        var ranks: [Int64] = []
        while let next = queue.popFirst(lastWanted: { $0.lastWanted }) { ranks.append(next.rank) }
        return ranks
    }

    @Test func `the least wanted goes first, of those wanted in one second the older`() {
        var queue = DemandQueue<Thing>()
        for (rank, second) in [5, 3, 3, 9, 1, 5].enumerated() {
            queue.insert(Thing(rank, lastWanted: second), lastWanted: second, rank: Int64(rank))
        }
        #expect(queue.count == 6)
        let order = ranks(&queue)
        #expect(order == [4, 1, 2, 0, 5, 3])
        #expect(queue.count == 0)
    }

    @Test func `what was wanted again goes when it is its turn by then`() {
        var queue = DemandQueue<Thing>()
        let things = (0..<10).map { Thing($0, lastWanted: $0) }
        for thing in things { queue.insert(thing, lastWanted: thing.lastWanted, rank: thing.rank) }
        things[0].lastWanted = 7
        things[2].lastWanted = 100
        let order = ranks(&queue)
        #expect(order == [1, 3, 4, 5, 6, 0, 7, 8, 9, 2])
    }

    @Test func `what is taken out is not there, and out of another queue nothing is taken`() {
        var queue = DemandQueue<Thing>()
        var other = DemandQueue<Thing>()
        let things = (0..<10).map { Thing($0, lastWanted: $0) }
        for thing in things.dropLast() { queue.insert(thing, lastWanted: thing.lastWanted, rank: thing.rank) }
        other.insert(things[9], lastWanted: 9, rank: 9)
        let isRemoved = [
            queue.remove(things[4]), queue.remove(things[4]), queue.remove(things[9]),
            other.remove(things[0]),
        ]
        #expect(isRemoved == [true, false, false, false])
        let order = ranks(&queue)
        #expect(order == [0, 1, 2, 3, 5, 6, 7, 8])
        #expect(other.count == 1)
    }

    @Test func `a thing that is inserted again is there once, at its new place`() {
        var queue = DemandQueue<Thing>()
        let things = (0..<5).map { Thing($0, lastWanted: $0) }
        for thing in things + things { queue.insert(thing, lastWanted: thing.lastWanted, rank: thing.rank) }
        things[3].lastWanted = -1
        queue.insert(things[3], lastWanted: -1, rank: 3)
        #expect(queue.count == 5)
        let order = ranks(&queue)
        #expect(order == [3, 0, 1, 2, 4])
    }

    @Test(arguments: 0..<4)
    func `after any steps it is in order`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = DemandQueue<Thing>()
        var expected: [Thing] = []
        for step in 0..<3000 {
            // The queue grows past some blocks, shrinks to nothing, and grows again.
            let isShrinking = (step / 1000).isMultiple(of: 2) == false
            if random.next() % 8 < (isShrinking ? 1 : 6) {
                let thing = Thing(step, lastWanted: Int(random.next() % 500))
                queue.insert(thing, lastWanted: thing.lastWanted, rank: thing.rank)
                expected.append(thing)
            } else if let place = expected.indices.randomElement(using: &random) {
                if random.next() % 4 == 0 {
                    expected[place].lastWanted += Int(random.next() % 100)
                } else {
                    let isRemoved = queue.remove(expected.remove(at: place))
                    #expect(isRemoved)
                }
            }
        }
        #expect(queue.count == expected.count)
        let order = ranks(&queue)
        let sorted = expected.sorted { ($0.lastWanted, $0.rank) < ($1.lastWanted, $1.rank) }
        #expect(order == sorted.map(\.rank))
    }
}
