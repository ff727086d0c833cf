internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy
@testable import Redis

/// What a node fetches in advance, and what it lets go: decisions without a server.
@Suite(.timeLimit(.minutes(40))) struct FollowingTests {
    private let chain = ChainKey(authority: "api.test", match: "/feed")

    private func name(_ number: Int) -> SharedName {
        SharedName(publicChain: chain, digest: Body(Array("\(number)".utf8)).digest)
    }

    /// Announces a version a second, and returns the seconds at which one was fetched.
    private func fetches(seconds: Int, isUsed: @escaping (SharedName) -> Bool) -> [Int] {
        var following = Following()
        return (0..<seconds).filter { second in
            let (now, newest) = (Int64(second) * 1000, name(second))
            _ = following.noteNewest(newest, of: chain, now: now)
            return following.takeNewest(
                of: chain, isHere: { _ in false }, isUsed: isUsed, bytes: { _ in 1000 }, now: now)
                == .fetch(newest)
        }
    }

    @Test(arguments: [
        (60_000, 60_000, true), (60_000, 120_000, true), (60_000, 120_001, false), (120_000, 60_000, true),
        (120_001, 60_000, false), (0, 0, false), (-1, 0, false), (Int64.min, 0, false), (.max, 0, false),
        (1, .max, false),
    ])
    func `a signed entry counts if it was appended within a minute`(
        time: Int64, appended: Int64, counts: Bool
    ) {
        var following = Following()
        let taken = (0..<2).map { _ in following.takeSigned(by: [1], at: time, appendedAt: appended) }
        #expect(taken == [counts, false], "at most once")
    }

    @Test func `the signed entries of one node say nothing of the times of another`() {
        var following = Following()
        let nodes: [[UInt8]] = [[1], [2], [1], [2]]
        let times: [Int64] = [60_000, 50_000, 60_000, 50_001]
        let taken = zip(nodes, times).map { node, time in
            following.takeSigned(by: node, at: time, appendedAt: time)
        }
        #expect(taken == [true, true, false, true])
    }

    @Test func `an entry of a known node makes none of the others count again`() {
        var following = Following()
        func take(_ node: Int, at time: Int64) -> Bool {
            following.takeSigned(by: [UInt8(node >> 8), UInt8(node & 255)], at: time, appendedAt: time)
        }
        let first = (0..<1_024).map { take($0, at: 60_000) }
        #expect(first.allSatisfy { $0 })
        let later = [take(0, at: 60_001), take(1, at: 60_000), take(1_023, at: 60_000)]
        #expect(later == [true, false, false])
    }

    @Test func `of too many chains no further one is fetched, and a later version of a known one is`() {
        var following = Following()
        func chain(_ number: Int) -> ChainKey { ChainKey(authority: "api.test", match: "/\(number)") }
        let isScheduled = (0..<1_025).map { following.noteNewest(name($0), of: chain($0), now: 0) }
        #expect(isScheduled.count { $0 } == 1_024 && isScheduled.last == false)
        let isScheduledAgain = following.noteNewest(name(2_000), of: chain(0), now: 0)
        #expect(!isScheduledAgain)
        let fetched = following.takeNewest(
            of: chain(0), isHere: { _ in false }, isUsed: { _ in true }, bytes: { _ in 1_000 }, now: 1_000)
        #expect(fetched == .fetch(name(2_000)))
    }

    @Test func `each change of holders counts once, also after the stream has begun again`() {
        var following = Following()
        /// Reads entries of these times; returns those that count.
        func read(_ times: UInt64...) -> [UInt64] {
            let entries = times.map {
                RedisStreamEntry(id: RedisStreamID(milliseconds: $0, sequence: 0), fields: [])
            }
            return following.takeNew(entries).map(\.id.milliseconds)
        }
        #expect(read(100, 200) == [100, 200])
        // It was trimmed.
        following.restartDemand()
        #expect(read(200, 210) == [210])
        following.endFormerDemand()
        #expect(read(220) == [220])
        // It was made anew by a server whose clock is behind.
        following.restartDemand()
        following.endFormerDemand()
        #expect(read(50) == [50])
        // That server was set back to an earlier state, and goes on.
        following.restartDemand()
        #expect(read(30, 40) == [])
        following.endFormerDemand()
        #expect(read(60) == [60])
        following.endFormerDemand()
        #expect(read(60, 70) == [70])
    }

    @Test func `the entries of a node have later and later times, whatever its clock says`() {
        var following = Following()
        let times = [100, 100, 50, 200].map { following.nextTime(now: $0) }
        #expect(times == [100, 101, 102, 200])
        // No other node heeds times that are so far ahead.
        let far = Following.signedMilliseconds + 1_000
        #expect(
            [far, 1_002, 1_002, 999].map { following.nextTime(now: $0) } == [far, far + 1, far + 2, 999])
    }

    @Test func `the newest version is fetched each time while this node uses those that it has fetched`() {
        #expect(fetches(seconds: 100) { _ in true } == Array(0..<100))
    }

    @Test func `after versions that nobody used the pause doubles, to five minutes`() {
        let seconds = fetches(seconds: 2000) { _ in false }
        #expect(seconds.prefix(8) == [0, 1, 3, 7, 15, 31, 63, 127])
        let pauses = zip(seconds.dropFirst(), seconds).map { $0 - $1 }
        #expect(pauses.max() == 300)
    }

    @Test func `one used version brings the short pause back`() {
        var used: Set<SharedName> = []
        var following = Following()
        var seconds: [Int] = []
        for second in 0..<100 {
            let (now, newest) = (Int64(second) * 1000, name(second))
            _ = following.noteNewest(newest, of: chain, now: now)
            let turn = following.takeNewest(
                of: chain, isHere: { _ in false }, isUsed: { used.contains($0) }, bytes: { _ in 1000 },
                now: now)
            guard turn == .fetch(newest) else { continue }
            seconds.append(second)
            if second == 31 { used.insert(newest) }
        }
        #expect(seconds.prefix(7) == [0, 1, 3, 7, 15, 31, 63])
        #expect(seconds.dropFirst(7).first == 64)
    }

    /// The decisions about versions of one size that nobody uses.
    private struct Turns {
        private var following = Following()
        let bytes: Int

        init(bytes: Int) { self.bytes = bytes }

        /// Notes a version, if one is given, and takes the newest one of its chain.
        mutating func take(
            _ name: SharedName?, of chain: ChainKey, isHere: Bool = false, at milliseconds: Int64
        ) -> Following.Turn {
            if let name { _ = following.noteNewest(name, of: chain, now: milliseconds) }
            return following.takeNewest(
                of: chain, isHere: { _ in isHere }, isUsed: { _ in false }, bytes: { [bytes] _ in bytes },
                now: milliseconds)
        }
    }

    @Test func `what is fetched in advance has eight megabytes a second, over all chains`() {
        var turns = Turns(bytes: 4_000_000)
        let chains = (0..<3).map { ChainKey(authority: "api.test", match: "/\($0)") }
        let first = (0..<3).map { turns.take(name($0), of: chains[$0], at: 10_000) }
        #expect(first == [.fetch(name(0)), .fetch(name(1)), .wait(milliseconds: 500)])
        let later = turns.take(nil, of: chains[2], at: 10_500)
        #expect(later == .fetch(name(2)))
    }

    @Test func `a version that comes too soon is fetched later, or the one that takes its place`() {
        var turns = Turns(bytes: 1_000)
        let taken = [
            turns.take(name(0), of: chain, at: 0), turns.take(name(1), of: chain, at: 400),
            turns.take(name(2), of: chain, at: 999), turns.take(nil, of: chain, at: 1_000),
            turns.take(nil, of: chain, at: 9_000),
        ]
        #expect(
            taken == [
                .fetch(name(0)), .wait(milliseconds: 600), .wait(milliseconds: 1), .fetch(name(2)), .nothing,
            ])
    }

    @Test func `a version waits for at most ten seconds`() {
        var turns = Turns(bytes: 1_000)
        for second in [0, 1, 3, 7, 15] as [Int64] {
            let turn = turns.take(name(0), of: chain, at: second * 1_000)
            #expect(turn == .fetch(name(0)))
        }
        // The pause ends at 31 seconds.
        let early = [turns.take(name(1), of: chain, at: 20_999), turns.take(nil, of: chain, at: 20_999)]
        #expect(early == [.nothing, .nothing])
        let late = turns.take(name(1), of: chain, at: 21_000)
        #expect(late == .wait(milliseconds: 10_000))
    }

    @Test func `a version that is here already takes nothing of what others may have`() {
        var turns = Turns(bytes: 8_000_000)
        let taken = (0..<3).map { turns.take(name($0), of: chain, isHere: $0 < 2, at: 10_000) }
        #expect(taken == [.nothing, .nothing, .fetch(name(2))])
    }

    @Test func `a fetch for a known chain makes none of a thousand others forget its pause`() {
        var turns = Turns(bytes: 100)
        func chain(_ number: Int) -> ChainKey { ChainKey(authority: "api.test", match: "/\(number)") }
        for number in 0..<1_024 { _ = turns.take(name(0), of: chain(number), at: 0) }
        for number in 0..<2 { _ = turns.take(name(1), of: chain(number), at: 1_000) }
        let turn = turns.take(name(2), of: chain(1), at: 2_000)
        #expect(turn == .wait(milliseconds: 1_000))
    }

    /// Notes so many announcements of one second.
    private func note(_ count: Int, at second: Int, of place: Int = 0, in following: inout Following) {
        let entries = (0..<count).map {
            RedisStreamEntry(
                id: RedisStreamID(milliseconds: UInt64(second) * 1_000, sequence: UInt64($0)), fields: [])
        }
        following.noteNews(entries, of: place)
    }

    @Test(arguments: [(100_000, 197_601, true), (100_000, 197_600, false), (99_999, 197_601, false)])
    func `announcements are missing if a full stream begins less than half of their life ago`(
        count: Int, second: Int, areMissing: Bool
    ) {
        var following = Following()
        note(count, at: second, in: &following)
        #expect(following.endFormerNews(now: 500_000) == areMissing)
        #expect(following.endFormerNews(now: 500_000) == false, "that is told once")
    }

    @Test func `the first announcement of a stream says how far it goes back, and later ones do not count`() {
        var following = Following()
        note(1, at: 0, in: &following)
        note(99_999, at: 400_000, in: &following)
        #expect(following.endFormerNews(now: 500_000) == false)
        var grown = Following()
        note(60_000, at: 400_000, in: &grown)
        #expect(grown.endFormerNews(now: 500_000) == false)
        // These were read as they came.
        note(60_000, at: 400_001, in: &grown)
        grown.restartNews(of: 1)
        #expect(grown.endFormerNews(now: 500_000) == false)
    }

    @Test func `a stream that begins again is counted anew, and the other one goes on`() {
        var following = Following()
        note(99_999, at: 400_000, of: 0, in: &following)
        note(99_999, at: 400_000, of: 1, in: &following)
        following.restartNews(of: 1)
        note(1, at: 400_000, of: 1, in: &following)
        #expect(following.endFormerNews(now: 500_000) == false)
        following.restartNews(of: 1)
        note(1, at: 400_000, of: 0, in: &following)
        #expect(following.endFormerNews(now: 500_000) == true, "the other stream is full")
    }

    @Test func `another key, and a clock that is wrong, are told once`() {
        var following = Following()
        #expect((0..<3).map { _ in following.noteOtherKey() } == [true, false, false])
        #expect((0..<3).map { _ in following.noteUntimely() } == [true, false, false])
    }

    @Test func `a version without holders stays for a minute, and then goes once`() {
        var superseded = Superseded()
        for number in 0..<10 { superseded.note(name(number), now: 1000 + number) }
        #expect(superseded.takeDue(now: 1059, max: 100).isEmpty)
        #expect(superseded.takeDue(now: 1064, max: 3) == (0..<3).map(name))
        #expect(superseded.takeDue(now: 1064, max: 100) == (3..<5).map(name))
        #expect(superseded.takeDue(now: 2000, max: 100) == (5..<10).map(name))
        #expect(superseded.count == 0)
    }

    @Test func `a flood of superseded versions takes bounded memory`() {
        var superseded = Superseded()
        for number in 0..<100_100 { superseded.note(name(number % 7), now: number) }
        #expect(superseded.count == 100_000)
    }
}
