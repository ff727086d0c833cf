internal import Dictionaries
internal import Primitives
internal import Storage

/// The totals of observed responses, by route and by the shape of their paths.
struct ObservedRoutes: Sendable {
    struct Key: Hashable, Sendable {
        let route: String
        /// The host; empty for the rest of a route.
        let authority: String
        /// The pattern of the paths, of which personal ones are not told apart; empty for the rest of a route.
        let match: String
    }

    /// The most groups that are told apart; further ones count as the rest of their route.
    static let countMax = 256

    private(set) var tallies: [Key: ObservedTally] = [:]
    private var observed: Set<String> = []

    /// Begins anew with routes that were not observed before, and ends the time of those that no longer are.
    mutating func adopt(_ routes: Set<String>, now: Int64) {
        tallies = tallies.filter { observed.contains($0.key.route) || !routes.contains($0.key.route) }
        for key in tallies.keys where !routes.contains(key.route) {
            tallies[key]?.observing.run(false, now: now)
        }
        observed = routes
    }

    /// Changes the totals of a group, or those of the rest of its route if it has none.
    ///
    /// - Parameter isMeasured: True if the group gets totals of its own while there is room. Other responses open no
    ///   group, since clients make up paths and hosts.
    mutating func change(_ key: Key, isMeasured: Bool = false, _ change: (inout ObservedTally) -> Void) {
        let hasOwn = tallies[key] != nil || isMeasured && tallies.count < Self.countMax
        let key = hasOwn ? key : Key(route: key.route, authority: "", match: "")
        let isNew = tallies[key] == nil
        change(&tallies[key, default: ObservedTally()])
        // A response that was under way when a reload ended the observation of its route.
        if isNew, !observed.contains(key.route) {
            tallies[key]?.observing.run(false, now: SystemClock.monotonicNanoseconds)
        }
    }
}

/// The totals of one group of URLs, with what goes on counting them.
struct ObservedTally: Sendable {
    /// The most samples of what a route could do, and the most URLs that are counted.
    static let samplesMax = 32
    static let urlsMax = 1_000

    var totals = SavingsReport.Observed()
    /// The last body, to compare other URLs with.
    var last: (url: Int, version: Storage.Version)?
    fileprivate var observing = Stopwatch(now: SystemClock.monotonicNanoseconds)
    private var urls: Set<Int> = []
    private var paths: Set<Int> = []

    var report: SavingsReport.Observed {
        var report = totals
        report.seconds = Double(observing.nanoseconds(now: SystemClock.monotonicNanoseconds)) / 1e9
        (report.urls, report.paths) = (urls.count, paths.count)
        return report
    }

    mutating func add(url: PathAndQuery) {
        if urls.count < Self.urlsMax { urls.insert(url.text.hashValue) }
        if paths.count < Self.urlsMax { paths.insert(url.path.hashValue) }
    }
}

/// The time for which something went on, with pauses; a value.
struct Stopwatch: Sendable {
    private var nanoseconds: Int64 = 0
    /// The time since which it runs; nil during a pause.
    private var began: Int64?

    init(now: Int64) { began = now }

    mutating func run(_ isRunning: Bool, now: Int64) {
        nanoseconds = nanoseconds(now: now)
        began = isRunning ? now : nil
    }

    func nanoseconds(now: Int64) -> Int64 { nanoseconds + (began.map { now - $0 } ?? 0) }
}
