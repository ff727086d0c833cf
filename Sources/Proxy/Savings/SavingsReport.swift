internal import Dictionaries
internal import Primitives

/// What dictionaries save, or would save, on a running proxy: the response of `/report` on the admin listener.
///
/// Its keys are those of the properties in snake case. Nothing in it is personal: URLs are patterns, and clients are
/// counted only.
package struct SavingsReport: Codable, Sendable {
    /// The seconds since the start.
    package var seconds: Double
    /// False while the configuration or the switch turns dictionaries off.
    package var dictionariesOn: Bool
    package var routes: [Route] = []
    package var store: Store
    /// The cost of observing; nil if no route is observed.
    package var observing: Observing?
    /// The comparison with clients without dictionaries; nil without an experiment.
    package var experiment: Experiment?

    /// One route.
    package struct Route: Codable, Sendable {
        package var route: String
        /// `live`, `observe` or `off`.
        package var mode: String
        /// The responses that were sent.
        package var live: Live?
        /// The totals of what was observed.
        package var observed: Observed?
        /// The same by groups of URLs.
        package var groups: [Group] = []
    }

    /// The responses of a live route.
    package struct Live: Codable, Sendable {
        package var requests = 0
        /// The responses over a dictionary.
        package var deltas = 0
        /// All responses, by their coding.
        package var codings: [String: Int] = [:]
        /// The bytes of the deltas before and after coding.
        package var deltaBodyBytes = 0
        package var deltaBytes = 0
        /// The responses over built dictionaries.
        package var built: Built?
        /// The bytes of all bodies before and after coding.
        package var bodyBytes = 0
        package var sentBytes = 0
        /// Deltas that were also coded without a dictionary.
        package var sampled = Sizes()
        /// The error of their ratio: the half of the interval that has the true one in 95 of 100 cases.
        package var sampledRatioMargin: Double?
        /// The other responses, by the reason.
        package var reasons: [String: Int] = [:]
    }

    /// Responses over built dictionaries, and their bytes before and after coding.
    package struct Built: Codable, Sendable {
        package var responses = 0
        package var bodyBytes = 0
        package var sentBytes = 0
    }

    /// The bytes of deltas, and of the same bodies in the best coding without a dictionary that the client accepts.
    package struct Sizes: Codable, Sendable {
        package var count = 0
        package var deltaBytes = 0
        package var plainBytes = 0

        /// The share of bytes that the deltas save; nil without any.
        package var savedShare: Double? {
            plainBytes > 0 ? 1 - Double(deltaBytes) / Double(plainBytes) : nil
        }
    }

    /// The deltas over dictionaries of one age.
    package struct Age: Codable, Sendable {
        /// The greatest number of versions between dictionary and body; nil for any greater.
        package var versionsBackMax: Int?
        package var sizes: Sizes
    }

    /// What was observed, of the clients that were observed.
    package struct Observed: Codable, Sendable {
        package var responses = 0
        /// The seconds since the first of them.
        package var seconds = 0.0
        /// The responses that were not measured, for lack of processor time or memory.
        package var skipped = 0
        package var urls = 0
        package var paths = 0
        package var versions = 0
        package var bodyBytes = 0
        /// The responses to clients that had not asked before.
        package var firsts = 0
        /// The requests of clients that had asked before, and those of them that would have got a delta.
        package var returns = 0
        package var deltas = 0
        /// The deltas that all clients would have got, if only a share of them is observed.
        package var deltasOfAll = 0.0
        /// The deltas that were made.
        package var measured = Sizes()
        package var ages: [Age] = []
        /// The requests of clients that had asked before and would hold nothing, by the reason.
        package var lacks: [String: Int] = [:]
        /// The responses that could not use or become a dictionary, by the reason.
        package var obstacles: [String: Int] = [:]
        /// The responses that no browser keeps, by the reason.
        package var unkept: [String: Int] = [:]
        /// The shortest time for which a browser keeps a response.
        package var lifeSeconds: Int?
        /// The requests with credentials.
        package var credentials = 0
        /// Samples of deltas over the version before, and over the body of another URL.
        package var own = Sizes()
        package var across = Sizes()
        /// The fields of the last response that decide what browsers do.
        package var fields: [String: String] = [:]

        /// The share of the requests of returning clients whose dictionary both sides would hold; nil without returns.
        package var holderShare: Double? { returns > 0 ? Double(deltas) / Double(returns) : nil }
        /// The average bytes per delta; nil without any.
        package var bytesPerDelta: Double? {
            measured.count > 0 ? Double(measured.deltaBytes) / Double(measured.count) : nil
        }
        /// The bytes that the deltas of all clients would have saved against the best other coding.
        package var savedBytes: Double {
            guard measured.count > 0 else { return 0 }
            return Double(measured.plainBytes - measured.deltaBytes) / Double(measured.count) * deltasOfAll
        }
    }

    /// A group of URLs.
    package struct Group: Codable, Sendable {
        package var authority: String
        package var match: String
        package var observed: Observed
    }

    /// The size of the store.
    package struct Store: Codable, Sendable {
        package var versions: Int
        package var chains: Int
        package var memoryBytes: Int
        package var diskBytes: Int
    }

    /// The cost of observing.
    package struct Observing: Codable, Sendable {
        /// The processor time that may be used and was used, as shares of one core.
        package var cpuAllowed: Double
        package var cpuUsed: Double
        package var cpuSeconds: Double
        /// The share of clients that is observed now.
        package var clientShare: Double
    }
}

extension SavingsReport.Observed {
    init(_ tallies: some Collection<ObservedTally>) {
        for tally in tallies { add(tally) }
        // Later groups do not hide the fields of earlier ones at random.
        fields = tallies.max { $0.responses < $1.responses }?.fields ?? [:]
    }

    private mutating func add(_ tally: ObservedTally) {
        responses += tally.responses
        seconds = max(seconds, Double(SystemClock.monotonicNanoseconds - tally.beganNanoseconds) / 1e9)
        skipped += tally.skipped
        urls += tally.urls.count
        paths += tally.paths.count
        versions += tally.versions
        bodyBytes += tally.bodyBytes
        firsts += tally.firsts
        returns += tally.returns
        deltas += tally.deltas
        deltasOfAll += tally.deltasOfAll
        credentials += tally.credentials
        own.add(tally.own)
        across.add(tally.across)
        if ages.isEmpty {
            ages = ObservedTally.ages.map { .init(versionsBackMax: $0 == .max ? nil : $0, sizes: .init()) }
        }
        for (index, sizes) in tally.sizes.enumerated() {
            measured.add(sizes)
            ages[index].sizes.add(sizes)
        }
        for (lack, count) in tally.lacks { lacks[lack.rawValue, default: 0] += count }
        for (reason, count) in tally.obstacles { obstacles[reason.text, default: 0] += count }
        for (reason, count) in tally.unkept { unkept[reason.rawValue, default: 0] += count }
        if let life = tally.lifeSeconds { lifeSeconds = min(lifeSeconds ?? .max, life) }
    }
}

extension SavingsReport.Sizes {
    mutating func add(_ sizes: ObservedTally.Sizes) {
        count += sizes.count
        deltaBytes += sizes.deltaBytes
        plainBytes += sizes.plainBytes
    }
}

extension Observer {
    /// What was observed so far, by route.
    var tallies: [ObservedRoutes.Key: ObservedTally] { routes.withLock { $0.tallies } }

    /// The cost so far.
    var cost: SavingsReport.Observing {
        let now = SystemClock.monotonicNanoseconds
        let budget = budget.withLock { $0 }
        let spent = Double(budget.spentNanoseconds)
        return .init(
            cpuAllowed: budget.cpuShare, cpuUsed: spent / Double(max(1, now - startNanoseconds)),
            cpuSeconds: spent / 1e9, clientShare: budget.clientShare)
    }
}
