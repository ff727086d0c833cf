import TestSupport
import Testing

@testable import HTTP

/// Deadlines in milliseconds; the wheel ticks every 4 and turns in 8,192.
struct DeadlineWheelTests {
    private func token(_ index: UInt32) -> Token { Token(index: index, generation: 0) }

    @Test func `an empty wheel lets the loop sleep for ever`() {
        var wheel = DeadlineWheel(now: 1000)
        #expect(wheel.millisecondsToNext(now: 1000) == -1)
        #expect(wheel.take(upTo: 1_000_000) == [])
    }

    @Test(arguments: [0, 1, 3, 4, 5, 100, 255, 256, 257, 8000, 8180] as [Int64])
    func `a deadline comes up at its time or at most four milliseconds later`(delay: Int64) {
        for start in [0, 3, 1000, 8191, 8192, 1_000_003] as [Int64] {
            var wheel = DeadlineWheel(now: start)
            let due = wheel.insert(token(1), at: start + delay)
            #expect(due >= start + delay || delay < 4)
            #expect(due < start + delay + 4)
            if due > start { #expect(wheel.take(upTo: due - 1) == []) }
            #expect(wheel.millisecondsToNext(now: start) == Int32(max(0, due - start)))
            #expect(wheel.take(upTo: max(start, due)) == [token(1)])
            #expect(wheel.millisecondsToNext(now: due) == -1)
        }
    }

    @Test(arguments: [8192, 10_000, 75_000, .max] as [Int64])
    func `a deadline beyond the wheel comes up once after one turn`(delay: Int64) {
        var wheel = DeadlineWheel(now: 20_000)
        let due = wheel.insert(token(1), at: delay == .max ? .max : 20_000 + delay)
        #expect((20_000 + 8180...20_000 + 8192).contains(due))
        #expect(wheel.take(upTo: due - 1) == [])
        #expect(wheel.take(upTo: due) == [token(1)])
        #expect(wheel.take(upTo: due + 100_000) == [])
    }

    @Test(arguments: [0, -1, 999, .min] as [Int64])
    func `a deadline in the past comes up at once`(deadline: Int64) {
        var wheel = DeadlineWheel(now: 1000)
        _ = wheel.take(upTo: 1000)
        let due = wheel.insert(token(1), at: deadline)
        #expect(due <= 1004)
        #expect(wheel.millisecondsToNext(now: 1000) <= 4)
        #expect(wheel.take(upTo: due) == [token(1)])
    }

    @Test(arguments: [8192, 8196, 20_000, 1_000_000_000] as [Int64])
    func `a loop that slept for turns finds every deadline, each once`(sleep: Int64) {
        var wheel = DeadlineWheel(now: 500)
        let all = (0..<2100).map { token(UInt32($0)) }
        for (index, token) in all.enumerated() { _ = wheel.insert(token, at: 500 + Int64(index) * 4) }
        let taken = wheel.take(upTo: 500 + sleep)
        #expect(taken.count == all.count)
        #expect(Set(taken) == Set(all))
        #expect(wheel.millisecondsToNext(now: 500 + sleep) == -1)
    }

    @Test func `the next deadline is found wherever it lies on the wheel`() {
        // All distances from all kinds of starts: within a word, across words, across the end of the wheel.
        for start in stride(from: Int64(0), to: 8192, by: 4 * 31) {
            for distance in stride(from: Int64(4), to: 8188, by: 4 * 61) {
                var wheel = DeadlineWheel(now: start)
                let due = wheel.insert(token(7), at: start + distance)
                #expect(wheel.millisecondsToNext(now: start) == Int32(due - start))
            }
        }
    }

    @Test func `of two deadlines the next is found, though the other lies before it in the same word`() {
        var wheel = DeadlineWheel(now: 0)
        // The wheel stands in the middle of a word of 64 buckets.
        _ = wheel.take(upTo: 400)
        let far = wheel.insert(token(1), at: 400 + 8188)
        let near = wheel.insert(token(2), at: 480)
        #expect((far / 4 % 2048, near / 4) == (99, 120))
        #expect(wheel.millisecondsToNext(now: 400) == 80)
        #expect(wheel.take(upTo: near) == [token(2)])
        #expect(wheel.millisecondsToNext(now: near) == Int32(far - near))
    }

    @Test func `random deadlines come up in order, none early and none lost`() {
        var random = SplitMix(seed: 7)
        var wheel = DeadlineWheel(now: 0)
        var now: Int64 = 0
        var open: [Token: Int64] = [:]
        for index in 0..<5000 {
            let deadline = now + Int64.random(in: 0..<8000, using: &random)
            open[token(UInt32(index))] = deadline
            _ = wheel.insert(token(UInt32(index)), at: deadline)
            now += Int64.random(in: 0..<20, using: &random)
            for taken in wheel.take(upTo: now) {
                let deadline = open.removeValue(forKey: taken)
                #expect((deadline ?? .max) <= now)
            }
            // Every token that is late by more than a tick has been taken.
            #expect(open.values.allSatisfy { $0 > now - 4 })
        }
    }
}
