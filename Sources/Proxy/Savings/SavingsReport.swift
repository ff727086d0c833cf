internal import Dictionaries

/// What dictionaries save, or would save, on a running proxy: the response of `/report` on the admin listener.
///
/// Its keys are those of the properties in snake case. Clients are counted only, and paths of personal responses are left
/// out. Other paths stay literal apart from identifiers with digits (`PathShape`).
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

    package struct Route: Codable, Sendable {
        package var route: String
        /// `live`, `observe` or `off`.
        package var mode: String
        /// The responses that were sent.
        package var live: Live?
        package var observed: Observed?
        /// The same by groups of URLs.
        package var groups: [Group] = []
        /// The dictionaries that the route learns, by host; nil if it learns none.
        package var learned: [Learned]?
    }

    /// The dictionary that a route learns in a host, as reports show it.
    package struct Learned: Codable, Sendable {
        package let host: String
        /// The last step: a `LearningReason`.
        package let reason: String?
        /// The clients with first responses of late, at most 128, and the URLs with a proven body, at most 512.
        package let clients: Int
        package let proven: Int
        /// The bytes of the dictionary; nil without one.
        package let bytes: Int?
        /// The bytes of the route's first responses without it, divided by those over it; nil until enough were sent.
        package let ratio: Double?
    }

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
        package var sampled = DeltaSizes()
        /// The bytes of all deltas' bodies in the best other coding, as `Gain` estimates them; nil without a sample.
        package var deltaPlainBytes: Int?
        /// The half of the interval around it that has the true value in 95 of 100 cases; nil with too few samples.
        package var deltaPlainMargin: Int?
        /// The other responses, by the reason.
        package var reasons: [String: Int] = [:]

        /// The responses whose clients had them already (304).
        package var notModified: Int { reasons[Reason.notModified.text] ?? 0 }
        package var hitRate: Double? { Self.hitRate(requests, deltas: deltas, notModified: notModified) }

        /// Returns the share of deltas in the responses but those that are no failure of dictionaries, since there was
        /// nothing to send (304); nil without any.
        static func hitRate(_ requests: Int, deltas: Int, notModified: Int) -> Double? {
            let others = requests - notModified
            return others > 0 ? Double(deltas) / Double(others) : nil
        }
    }

    /// Responses over built dictionaries, and their bytes before and after coding.
    package struct Built: Codable, Sendable {
        package var responses = 0
        package var bodyBytes = 0
        package var sentBytes = 0
    }

    /// The deltas over dictionaries of one age.
    package struct Age: Codable, Sendable {
        /// The greatest number of versions between dictionary and body; nil for any greater.
        package var versionsBackMax: Int?
        package var sizes = DeltaSizes()
    }

    /// What was observed, of the clients that were observed.
    package struct Observed: Codable, Sendable {
        package var responses = 0
        /// The seconds of observing since the first of them.
        package var seconds = 0.0
        /// The responses that were not measured, for lack of processor time or memory.
        package var skipped = 0
        package var urls = 0
        package var paths = 0
        package var versions = 0
        /// The responses of URLs that had a body before, 304s included, and those of them whose body had come before.
        package var revisits = 0
        package var unchanged = 0
        package var bodyBytes = 0
        /// The responses to clients that had not asked before.
        package var firsts = 0
        /// The requests of clients that had asked before, and those of them that would have got a delta.
        package var returns = 0
        package var deltas = 0
        /// The deltas that all clients would have got, if only a share of them is observed.
        package var deltasOfAll = 0.0
        /// The deltas that were made, and the same by the age of the dictionary.
        package var measured = DeltaSizes()
        package var ages = [0, 1, 3, 10, 100, nil].map { Age(versionsBackMax: $0) }
        /// The requests of clients that had asked before and would hold nothing, by the reason.
        package var lacks: [String: Int] = [:]
        /// The responses that could not use or become a dictionary, by the reason.
        package var obstacles: [String: Int] = [:]
        /// The responses that no browser keeps, by the reason.
        package var unkept: [String: Int] = [:]
        /// The shortest time for which a browser keeps a response.
        package var lifeSeconds: Int?
        package var credentials = 0
        /// Samples of deltas over the version before, and over the body of another URL.
        package var own = DeltaSizes()
        package var across = DeltaSizes()
        /// The fields of the last response that decide what browsers do.
        package var fields: [String: String] = [:]

        /// The share of the requests of returning clients whose dictionary both sides would hold; nil without returns.
        package var holderShare: Double? { returns > 0 ? Double(deltas) / Double(returns) : nil }
        /// The bytes that the deltas of all clients would have saved against the best other coding.
        package var savedBytes: Double {
            guard measured.count > 0 else { return 0 }
            return Double(measured.plainBytes - measured.deltaBytes) / Double(measured.count) * deltasOfAll
        }
    }

    package struct Group: Codable, Sendable {
        package var authority: String
        package var match: String
        package var observed: Observed
    }

    package struct Store: Codable, Sendable {
        package var versions: Int
        package var chains: Int
        package var memoryBytes: Int
        package var diskBytes: Int
    }

    package struct Observing: Codable, Sendable {
        /// The processor time that may be used and was used while routes were observed, as shares of one core.
        package var cpuAllowed: Double
        package var cpuUsed: Double
        package var cpuSeconds: Double
        package var clientShare: Double
    }
}

extension SavingsReport.Observed {
    /// Makes the sum of several groups of URLs.
    init(_ groups: [Self]) {
        for group in groups { add(group) }
        // Later groups do not hide the fields of earlier ones at random.
        fields = groups.max { $0.responses < $1.responses }?.fields ?? [:]
    }

    private mutating func add(_ other: Self) {
        let counts: [WritableKeyPath<Self, Int>] = [
            \.responses, \.skipped, \.urls, \.paths, \.versions, \.revisits, \.unchanged, \.bodyBytes,
            \.firsts, \.returns, \.deltas, \.credentials,
        ]
        for count in counts { self[keyPath: count] += other[keyPath: count] }
        seconds = max(seconds, other.seconds)
        deltasOfAll += other.deltasOfAll
        measured.add(other.measured)
        for (index, age) in other.ages.enumerated() { ages[index].sizes.add(age.sizes) }
        own.add(other.own)
        across.add(other.across)
        lacks.merge(other.lacks, uniquingKeysWith: +)
        obstacles.merge(other.obstacles, uniquingKeysWith: +)
        unkept.merge(other.unkept, uniquingKeysWith: +)
        if let life = other.lifeSeconds { note(lifeSeconds: life) }
    }

    /// Counts a body by its number among those of its URL.
    mutating func countBody(number: Int, isNew: Bool) {
        if isNew { versions += 1 } else { unchanged += 1 }
        if !isNew || number > 1 { revisits += 1 }
    }

    mutating func note(lifeSeconds life: Int) { lifeSeconds = min(lifeSeconds ?? .max, life) }

    mutating func add(deltaBytes: Int, plainBytes: Int, versionsBack: Int) {
        measured.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        let age = ages.firstIndex { versionsBack <= $0.versionsBackMax ?? .max } ?? ages.count - 1
        ages[age].sizes.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
    }
}
