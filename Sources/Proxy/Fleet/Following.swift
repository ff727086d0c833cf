internal import Primitives
internal import Redis
internal import Storage

/// What a node has learnt of the others; a pure value.
struct Following: Sendable {
    /// The version of each chain that is to be fetched in advance, and the time until which it may wait, in milliseconds.
    private var newest: [ChainKey: (name: SharedName, end: Int64)] = [:]
    private var fetched = TokenBucket()
    private var paces: [ChainKey: FetchPace] = [:]
    /// The last entry about holders that was counted, so that none counts twice when a stream begins again.
    private var lastDemand: RedisStreamID?
    /// The last entry about holders since their stream began again; nil once it has been read to its end.
    private var readAgain: RedisStreamID?
    private var hasOtherKey = false
    private var hasUntimelyOrder = false
    /// The time of the last signed entry of each node about holders, and of this one; in milliseconds since 1970.
    private var signedAt: [[UInt8]: Int64] = [:]
    private var ownTime: Int64 = 0
    /// The entries read of each stream of announcements until its end was reached for the first time.
    private var news: [Int: (count: Int, firstSecond: Int)] = [:]
    private var isReadingFormerNews = true

    /// The number of the repetition of this node's versions that goes on, so that a former one ends.
    private(set) var repetition = 0

    private static let chainsMax = 1024
    /// The time for which a version waits for its fetch: longer pauses are those of chains whose versions nobody uses.
    private static let waitMilliseconds: Int64 = 10_000

    /// The bytes of fetches in advance.
    private static let fetchRate = TokenBucket.Shape(perSecond: 8_000_000)

    /// Begins to write this node's versions again; returns the number of that.
    mutating func beginRepetition() -> Int {
        repetition += 1
        return repetition
    }

    /// Notes that a chain has a new version; returns true if its fetch must be scheduled.
    ///
    /// A later version of the chain takes its place, since it is what clients get from now on.
    mutating func noteNewest(_ name: SharedName, of chain: ChainKey, now: Int64) -> Bool {
        guard newest.count < Self.chainsMax || newest[chain] != nil else { return false }
        return newest.updateValue((name, now + Self.waitMilliseconds), forKey: chain) == nil
    }

    /// The next step for the newest version of a chain.
    enum Turn: Equatable {
        case fetch(SharedName)
        /// Ask again after this time, since a fetch would be too much, or too soon.
        case wait(milliseconds: Int64)
        /// There is none, it is here, or its time is over before it may be fetched.
        case nothing
    }

    /// Returns what is to be done about the newest version of a chain, whose time has come.
    ///
    /// Where every client has bodies of its own, nobody would use the newest one. So the pause after a fetch is doubled
    /// as long as the versions of former fetches stay unused.
    ///
    /// - Parameters:
    ///   - isHere: Tells whether this node has a version.
    ///   - isUsed: Tells whether this node has made a delta over a version.
    mutating func takeNewest(
        of chain: ChainKey, isHere: (SharedName) -> Bool, isUsed: (SharedName) -> Bool,
        bytes: (SharedName) -> Int, now: Int64
    ) -> Turn {
        guard let (name, end) = newest.removeValue(forKey: chain), !isHere(name) else { return .nothing }
        var pace = paces[chain] ?? FetchPace()
        if let wait = pace.wait(now: now) ?? waitForRate(bytes(name), now: now) {
            guard now + wait <= end else { return .nothing }
            newest[chain] = (name, end)
            return .wait(milliseconds: wait)
        }
        pace.note(name, isUsed: isUsed, now: now)
        if paces.count >= Self.chainsMax, paces[chain] == nil { paces = [:] }
        paces[chain] = pace
        return .fetch(name)
    }

    /// Takes bytes to fetch; returns the milliseconds to wait, and takes none, if they are too many for now.
    private mutating func waitForRate(_ bytes: Int, now: Int64) -> Int64? {
        fetched.take(bytes, at: Self.fetchRate, now: now * 1_000_000).map { ($0 + 999_999) / 1_000_000 }
    }

    /// The pauses between the fetches for one chain; times are in milliseconds.
    private struct FetchPace: Sendable {
        private static let pauses: ClosedRange<Int64> = 1_000...300_000
        private var next: Int64 = 0
        private var pause = pauses.lowerBound
        private var last: SharedName?

        /// Returns the time until the next fetch; nil if that may be now.
        func wait(now: Int64) -> Int64? { now < next ? next - now : nil }

        /// Notes that a version is fetched now.
        mutating func note(_ name: SharedName, isUsed: (SharedName) -> Bool, now: Int64) {
            let gains = last.map(isUsed) ?? true
            pause = gains ? Self.pauses.lowerBound : min(2 * pause, Self.pauses.upperBound)
            next = now + pause
            last = name
        }
    }

    // MARK: Announcements

    mutating func noteNews(_ entries: [RedisStreamEntry], of place: Int) {
        guard isReadingFormerNews, let first = entries.first else { return }
        let known = news[place] ?? (count: 0, firstSecond: Int(clamping: first.id.milliseconds / 1000))
        news[place] = (known.count + entries.count, known.firstSecond)
    }

    /// Notes that a stream begins again.
    mutating func restartNews(of place: Int) {
        news[place] = nil
        isReadingFormerNews = true
    }

    /// Notes the end of all streams; returns true if announcements that may still count were trimmed before this node could
    /// read them.
    ///
    /// A full stream loses the oldest ones, and every version in demand is announced again within half of its life.
    mutating func endFormerNews(now: Int) -> Bool {
        guard isReadingFormerNews else { return false }
        isReadingFormerNews = false
        return news.values.contains {
            $0.count >= SharedStore.newsMax && $0.firstSecond > now - SharedStore.lifeSeconds / 2
        }
    }

    // MARK: Holders

    /// Returns the entries about holders that were not counted yet.
    mutating func takeNew(_ entries: [RedisStreamEntry]) -> [RedisStreamEntry] {
        let last = lastDemand ?? .zero
        let new = entries.filter { $0.id > last }
        if let end = new.last { lastDemand = end.id }
        if readAgain != nil, let end = entries.last { readAgain = end.id }
        return new
    }

    /// Notes that the stream of entries about holders begins again.
    mutating func restartDemand() { readAgain = .zero }

    /// Notes its end.
    ///
    /// One that was trimmed has the last entry that was counted, and later ones. One that was made anew, by a server whose
    /// clock is behind, has none of these: its next entries come before that one.
    mutating func endFormerDemand() {
        if let readAgain, let last = lastDemand { lastDemand = min(last, readAgain) }
        readAgain = nil
    }

    /// The longest time between an entry's signature and its place in the stream: clocks differ, and commands wait.
    static let signedMilliseconds: Int64 = 60_000
    /// More than the nodes that a fleet has while the stream keeps their entries.
    private static let nodesMax = 1024

    /// Returns true for a signed entry that is new: later than the last one of its node, and not appended long after it.
    ///
    /// A node that starts reads the stream from its beginning. So an entry that somebody appends again comes after the
    /// first one, or too late.
    mutating func takeSigned(by node: [UInt8], at time: Int64, appendedAt: Int64) -> Bool {
        guard time > signedAt[node] ?? 0, appendedAt >= 0,
            abs(appendedAt - time) <= Self.signedMilliseconds
        else { return false }
        if signedAt.count >= Self.nodesMax, signedAt[node] == nil { signedAt = [:] }
        signedAt[node] = time
        return true
    }

    /// Returns the time for the next entry of this node: later than all others, also where the clock stands still.
    ///
    /// After a clock that was far ahead it begins anew, since the other nodes have heeded none of those times.
    mutating func nextTime(now: Int64) -> Int64 {
        ownTime = ownTime - now > Self.signedMilliseconds ? now : max(now, ownTime + 1)
        return ownTime
    }

    /// Returns true the first time that another node says that it has another key.
    mutating func noteOtherKey() -> Bool { !exchange(&hasOtherKey, with: true) }

    /// Returns true the first time that an order is not heeded for its time.
    mutating func noteUntimely() -> Bool { !exchange(&hasUntimelyOrder, with: true) }
}

/// The versions whose last holder has gone on, until the shared store may lose them; a pure value.
///
/// A holder whose response was lost comes back with the former version, so they stay for a while.
struct Superseded: Sendable {
    /// The time that they stay, in seconds: most clients whose response was lost ask again within it.
    static let pauseSeconds = 60
    /// The number of versions that are noted; more stay in the shared store until their time is over.
    private static let countMax = 100_000

    /// A slice, since it loses its first elements in constant time.
    private var queue: ArraySlice<(name: SharedName, second: Int)> = []

    var count: Int { queue.count }

    /// Notes a version that has lost its last holder.
    mutating func note(_ name: SharedName, now: Int) {
        guard count < Self.countMax else { return }
        queue.append((name, now + Self.pauseSeconds))
    }

    /// Takes the versions whose time has come, at most so many; their holders must be looked at again.
    mutating func takeDue(now: Int, max: Int) -> [SharedName] {
        let due = queue.prefix(max).prefix { $0.second <= now }
        queue.removeFirst(due.count)
        return due.map(\.name)
    }
}
