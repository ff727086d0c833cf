/// The deadlines of one loop, in a wheel of 4-millisecond buckets.
///
/// Setting and moving a deadline are O(1). A deadline beyond the wheel's 8 seconds is checked once per turn.
/// The wheel knows only tokens and times, so that a test can drive it without a clock.
struct DeadlineWheel {
    static let bucketMilliseconds: Int64 = 4
    static let bucketCount = 2048

    private var buckets = [[Token]](repeating: [], count: bucketCount)
    private var occupied = [UInt64](repeating: 0, count: bucketCount / 64)
    /// The first tick that has not been processed.
    private var nextTick: Int64

    init(now: Int64) {
        nextTick = now / Self.bucketMilliseconds
    }

    /// Inserts the token so that it comes up at `deadline` or later, or after one turn; returns that time.
    mutating func insert(_ token: Token, at deadline: Int64) -> Int64 {
        let last = nextTick + Int64(Self.bucketCount) - 1
        // Rounded up, so that a deadline never passes early.
        let wanted = min(deadline, .max - Self.bucketMilliseconds)
        let tick = min(max((wanted + Self.bucketMilliseconds - 1) / Self.bucketMilliseconds, nextTick), last)
        let bucket = Int(tick % Int64(Self.bucketCount))
        buckets[bucket].append(token)
        occupied[bucket / 64] |= 1 << UInt64(bucket % 64)
        return tick * Self.bucketMilliseconds
    }

    /// Removes and returns every token whose time is not after `now`.
    mutating func take(upTo now: Int64) -> [Token] {
        let nowTick = now / Self.bucketMilliseconds
        guard nowTick >= nextTick else { return [] }
        // After a sleep longer than a turn all buckets are due; each is visited once.
        let first = max(nextTick, nowTick - Int64(Self.bucketCount) + 1)
        nextTick = nowTick + 1
        var taken: [Token] = []
        for tick in first...nowTick {
            let bucket = Int(tick % Int64(Self.bucketCount))
            guard occupied[bucket / 64] & 1 << UInt64(bucket % 64) != 0 else { continue }
            occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64))
            taken += buckets[bucket]
            buckets[bucket].removeAll(keepingCapacity: buckets[bucket].count < 64)
        }
        return taken
    }

    /// Returns the milliseconds to the next occupied bucket; -1 if there is none.
    func millisecondsToNext(now: Int64) -> Int32 {
        let start = Int(nextTick % Int64(Self.bucketCount))
        for step in 0...occupied.count {
            let word = (start / 64 + step) % occupied.count
            var bits = occupied[word]
            if step == 0 { bits &= ~0 << UInt64(start % 64) }
            if step == occupied.count { bits &= ~(~0 << UInt64(start % 64)) }
            guard bits != 0 else { continue }
            let bucket = word * 64 + bits.trailingZeroBitCount
            let distance = (bucket - start + Self.bucketCount) % Self.bucketCount
            let time = (nextTick + Int64(distance)) * Self.bucketMilliseconds
            return Int32(clamping: max(0, time - now))
        }
        return -1
    }
}
