import Testing

@testable import Dictionaries

/// The contract's rule `chain-too-wide`.
@Suite struct ChainWidthTests {
    private let policy = ChurnPolicy()

    /// Notes what clients advertise, at one URL after the other, and says if the chain stopped.
    private func note(
        _ width: inout ChainWidth, found: Int = 0, missing: Int = 0, urls: Int, first: Int = 0,
        now: Int = 1000
    ) -> ChainStop? {
        for number in 0..<found + missing {
            let isFound = number < found
            if let stop = width.note(url: first + number % urls, isFound: isFound, now: now, policy: policy) {
                return stop
            }
        }
        return nil
    }

    /// Notes so many comparisons of deltas, and says if the chain stopped.
    private func sample(_ width: inout ChainWidth, deltas: [Int], plain: Int = 1000, now: Int = 1000)
        -> ChainStop?
    {
        for bytes in deltas {
            if let stop = width.note(deltaBytes: bytes, plainBytes: plain, now: now, policy: policy) {
                return stop
            }
        }
        return nil
    }

    @Test func `a chain of 32 URLs never stops, one of 33 does`() {
        var narrow = ChainWidth()
        #expect(note(&narrow, missing: 10_000, urls: 32) == nil)
        #expect(!narrow.isResting(now: 1000))
        var wide = ChainWidth()
        let stop = note(&wide, missing: 10_000, urls: 33)
        #expect(stop == ChainStop(cause: .fewFound(0, of: 64), seconds: 900))
        #expect(wide.isResting(now: 1000))
    }

    @Test func `20 % found is enough, one advertisement less is not`() {
        var width = ChainWidth()
        #expect(note(&width, found: 20, missing: 80, urls: 33) == nil)
        #expect(note(&width, missing: 1, urls: 33)?.cause == .fewFound(20, of: 101))
    }

    @Test func `nothing is judged by fewer than 64 advertisements`() {
        var width = ChainWidth()
        #expect(note(&width, missing: 63, urls: 40) == nil)
        #expect(note(&width, missing: 1, urls: 40) != nil)
    }

    @Test func `deltas that save 10 % are enough, a byte more is not`() {
        var width = ChainWidth()
        #expect(note(&width, found: 100, urls: 33) == nil)
        #expect(sample(&width, deltas: Array(repeating: 900, count: 8)) == nil)
        #expect(sample(&width, deltas: [901])?.cause == .littleSaved(8101, of: 9000))
        #expect(width.isResting(now: 1000))
    }

    @Test func `nothing is judged by fewer than 8 deltas, nor in a chain of 32 URLs`() {
        var width = ChainWidth()
        #expect(note(&width, found: 100, urls: 33) == nil)
        #expect(sample(&width, deltas: Array(repeating: 1000, count: 7)) == nil)
        #expect(sample(&width, deltas: [1000]) != nil)
        var narrow = ChainWidth()
        #expect(note(&narrow, found: 100, urls: 32) == nil)
        #expect(sample(&narrow, deltas: Array(repeating: 1000, count: 100)) == nil)
    }

    @Test func `of a wide chain one delta in 64 is compared, of others none`() {
        var width = ChainWidth()
        var compared = 0
        for number in 0..<640 {
            _ = width.note(url: number % 33, isFound: true, now: 1000, policy: policy)
            if width.isSampled(policy) { compared += 1 }
        }
        // The first 32 were not of a wide chain yet.
        #expect(compared == 9)
        var narrow = ChainWidth()
        for number in 0..<640 {
            _ = narrow.note(url: number % 32, isFound: true, now: 1000, policy: policy)
            #expect(!narrow.isSampled(policy))
        }
    }

    @Test func `URLs are counted for an hour`() {
        var width = ChainWidth()
        #expect(note(&width, missing: 500, urls: 32, now: 1000) == nil)
        #expect(note(&width, missing: 1, urls: 1, first: 1000, now: 4600) == nil)
        #expect(note(&width, missing: 62, urls: 31, now: 4600) == nil)
        #expect(note(&width, missing: 1, urls: 1, first: 1001, now: 8199) != nil)
    }

    @Test func `a chain that stopped comes back after 15 minutes, and later each time it must stop again`() {
        var width = ChainWidth()
        var now = 1000
        var rests: [Int] = []
        for _ in 0..<8 {
            rests.append(note(&width, missing: 64, urls: 33, now: now)?.seconds ?? 0)
            let end = now + (rests.last ?? 0)
            #expect(width.isResting(now: end - 1))
            #expect(note(&width, missing: 500, urls: 33, now: end - 1) == nil)
            #expect(!width.isResting(now: end))
            now = end
        }
        #expect(rests == [900, 1800, 3600, 7200, 14400, 28800, 28800, 28800])
    }

    @Test func `an hour without a stop makes the next rest short again`() {
        var width = ChainWidth()
        #expect(note(&width, missing: 64, urls: 33, now: 0)?.seconds == 900)
        #expect(note(&width, missing: 64, urls: 33, now: 900)?.seconds == 1800)
        #expect(note(&width, found: 64, urls: 33, now: 2700) == nil)
        #expect(note(&width, missing: 64, urls: 33, now: 6300)?.seconds == 900)
    }

    @Test func `a clock that is set back ends a rest and begins a new hour`() {
        var width = ChainWidth()
        #expect(note(&width, missing: 64, urls: 33, now: 1_000_000) != nil)
        #expect(!width.isResting(now: 1000))
        #expect(note(&width, missing: 63, urls: 33, now: 1000) == nil)
        #expect(note(&width, missing: 1, urls: 33, now: 1000) != nil)
    }

    @Test func `the log names the route, the cause and what to do`() {
        let few = ChainStop(cause: .fewFound(3, of: 64), seconds: 900).text(route: "/items/*", urlsMax: 32)
        for part in [
            "chain-too-wide", "/items/*", "32 URLs", "of 64", "3 were found", "15 minutes", "covers",
        ] {
            #expect(few.contains(part))
        }
        let little = ChainStop(cause: .littleSaved(950, of: 1000), seconds: 1800)
            .text(route: "/a", urlsMax: 32)
        for part in ["/a", "950 bytes", "1000", "30 minutes"] { #expect(little.contains(part)) }
    }
}
