import Primitives
import Testing

@Suite struct TokenBucketTests {
    private static let second: Int64 = 1_000_000_000
    private static let thousand = TokenBucket.Shape(perSecond: 1000)
    private var second: Int64 { Self.second }

    @Test(arguments: [(1000, true), (1001, false)])
    func `a full bucket holds one second's worth, and not a token more`(count: Int, isTaken: Bool) {
        var bucket = TokenBucket()
        #expect(bucket.take(500, at: Self.thousand, now: 7) == nil)
        #expect((bucket.take(count - 500, at: Self.thousand, now: 7) == nil) == isTaken)
    }

    @Test func `a full bucket gives its burst and no more, then one for each interval`() {
        let shape = TokenBucket.Shape(interval: 10, burst: 3)
        var bucket = TokenBucket()
        #expect((0..<4).map { _ in bucket.take(at: shape, now: 1000) } == [nil, nil, nil, 10])
        #expect(bucket.take(at: shape, now: 1009) == 1)
        #expect(bucket.take(at: shape, now: 1010) == nil)
        #expect(bucket.take(at: shape, now: 1010) == 10)
        // A refusal costs nothing.
        #expect(bucket.take(at: shape, now: 1020) == nil)
        #expect(bucket.missing(1049) == 1 && bucket.missing(1050) == 0 && bucket.missing(5000) == 0)
        #expect((0..<4).map { _ in bucket.take(at: shape, now: 5000) } == [nil, nil, nil, 10])
    }

    @Test func `the wait that is said is the wait that is needed`() {
        let shape = TokenBucket.Shape(interval: 10, burst: 3)
        var bucket = TokenBucket()
        for now in stride(from: Int64(0), to: 500, by: 3) {
            var other = bucket
            guard let wait = bucket.take(at: shape, now: now) else { continue }
            #expect(other.take(at: shape, now: now + wait - 1) != nil)
            #expect(other.take(at: shape, now: now + wait) == nil)
        }
    }

    @Test func `it holds no more than it is allowed, and what is larger waits for all of that`() {
        let shape = TokenBucket.Shape(perSecond: 1000, burst: 300)
        var bucket = TokenBucket()
        let takes = [(300, 0), (400, second / 10), (400, second), (1, second + second / 10)].map {
            bucket.take($0, at: shape, now: $1) == nil
        }
        #expect(takes == [true, false, true, false])
    }

    @Test func `it fills with time, up to its burst`() {
        let ages = second << 30
        var bucket = TokenBucket()
        let takes = [(1000, 0), (100, second / 10 - 1), (100, second / 10), (1000, ages), (1, ages)].map {
            bucket.take($0, at: Self.thousand, now: $1) == nil
        }
        #expect(takes == [true, false, true, true, false])
    }

    @Test func `more than the bucket holds is given when it is full, and the debt is paid first`() {
        var bucket = TokenBucket()
        let takes = [
            (1, 0), (3000, 0), (3000, second), (1, 3 * second), (1, 3 * second + second / 1000),
        ].map { bucket.take($0, at: Self.thousand, now: $1) == nil }
        #expect(takes == [true, false, true, false, true])
    }

    @Test func `what is owed is a debt, and counts from now on`() {
        var bucket = TokenBucket()
        bucket.owe(1500, at: Self.thousand, now: second)
        #expect(bucket.missing(second) == second * 3 / 2)
        #expect(bucket.take(at: Self.thousand, now: second) == second / 2 + second / 1000)
    }

    @Test func `what is given back can be taken again, but the bucket never overflows`() {
        var bucket = TokenBucket()
        #expect(bucket.take(1000, at: Self.thousand, now: 0) == nil)
        bucket.giveBack(400, at: Self.thousand)
        #expect(bucket.take(400, at: Self.thousand, now: 0) == nil)
        #expect(bucket.take(at: Self.thousand, now: 0) != nil)
        bucket.giveBack(5000, at: Self.thousand)
        #expect(bucket.take(1000, at: Self.thousand, now: 0) == nil)
        #expect(bucket.take(at: Self.thousand, now: 0) != nil)
    }

    @Test(arguments: [(499, true), (500, false)])
    func `what must be kept is left to others`(count: Int, isTaken: Bool) {
        var bucket = TokenBucket()
        #expect(bucket.take(1, at: Self.thousand, now: 0) == nil)
        #expect((bucket.take(count, keeping: 500, at: Self.thousand, now: 0) == nil) == isTaken)
        #expect(bucket.take(500, at: Self.thousand, now: 0) == nil)
    }

    @Test func `a clock that goes back adds nothing`() {
        var bucket = TokenBucket()
        #expect(bucket.take(1000, at: Self.thousand, now: 5 * second) == nil)
        #expect(bucket.take(at: Self.thousand, now: 0) != nil)
        #expect(bucket.take(at: Self.thousand, now: 5 * second) != nil)
    }

    @Test func `numbers beyond every bucket are bounded`() {
        var bucket = TokenBucket()
        let slow = TokenBucket.Shape(perSecond: 0, burst: .max)
        #expect(bucket.take(.max / 2, at: slow, now: 0) == nil)
        #expect(bucket.take(.max / 2, at: slow, now: 0) != nil)
    }
}
