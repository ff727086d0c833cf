internal import Dictionaries
internal import Primitives
internal import Storage

/// The totals of observed responses, by route and by the shape of their paths.
struct ObservedRoutes: Sendable {
    /// The name of a group of URLs.
    struct Key: Hashable, Sendable {
        /// The text of the route.
        let route: String
        /// The host; empty for the rest of a route.
        let authority: String
        /// The pattern of the paths; empty for the rest of a route.
        ///
        /// Personal paths are not told apart.
        let match: String
    }

    /// The most groups that are told apart; further ones count as the rest of their route.
    static let countMax = 256

    private(set) var tallies: [Key: ObservedTally] = [:]

    mutating func change(_ key: Key, _ change: (inout ObservedTally) -> Void) {
        let isKnown = tallies[key] != nil || tallies.count < Self.countMax
        change(
            &tallies[
                isKnown ? key : Key(route: key.route, authority: "", match: ""), default: ObservedTally()])
    }
}

/// The totals of one group of URLs.
struct ObservedTally: Sendable {
    /// The bytes of deltas, and of the same bodies without a dictionary.
    struct Sizes: Sendable {
        private(set) var count = 0
        private(set) var deltaBytes = 0
        /// In the best coding without a dictionary that the client accepts.
        private(set) var plainBytes = 0

        mutating func add(deltaBytes: Int, plainBytes: Int) {
            count += 1
            self.deltaBytes += deltaBytes
            self.plainBytes += plainBytes
        }
    }

    /// The ages of dictionaries: the greatest number of versions back of each.
    static let ages = [0, 1, 3, 10, 100, Int.max]
    /// The most samples of what a route could do, and the most URLs that are counted.
    static let samplesMax = 32
    static let urlsMax = 1_000

    /// The time of the first response.
    let beganNanoseconds = SystemClock.monotonicNanoseconds
    /// The complete responses.
    var responses = 0
    var bodyBytes = 0
    /// The responses to known clients that had not asked before.
    var firsts = 0
    /// The requests of clients that had asked before.
    var returns = 0
    /// Those of them that would have got a delta.
    var deltas = 0
    /// The deltas that all clients would have got, estimated from those of the observed ones.
    var deltasOfAll = 0.0
    /// The deltas that were made, by the age of the dictionary.
    var sizes = [Sizes](repeating: Sizes(), count: ages.count)
    /// The requests of clients that had asked before and would hold nothing.
    var lacks: [ObservedClients.Lack: Int] = [:]
    /// The responses that could not use or become a dictionary, by the reason.
    var obstacles: [Reason: Int] = [:]
    /// The responses that no browser keeps, by the reason.
    var unkept: [UnkeptReason: Int] = [:]
    /// The responses that were not measured: for lack of processor time or memory.
    var skipped = 0
    /// The different bodies of the URLs.
    var versions = 0
    /// Deltas over the version before, whoever asks.
    var own = Sizes()
    /// Deltas over the body of another URL.
    var across = Sizes()
    /// The last body, to compare other URLs with.
    var last: (url: Int, version: Storage.Version)?
    /// The shortest time for which a browser keeps a response, in seconds.
    var lifeSeconds: Int?
    /// The requests with credentials.
    var credentials = 0
    var fields: [String: String] = [:]
    private(set) var urls: Set<Int> = []
    private(set) var paths: Set<Int> = []

    mutating func add(url: PathAndQuery) {
        if urls.count < Self.urlsMax { urls.insert(url.text.hashValue) }
        if paths.count < Self.urlsMax { paths.insert(url.path.hashValue) }
    }

    /// Counts a delta that was made.
    mutating func add(_ delta: (bytes: Int, plainBytes: Int), versionsBack: Int) {
        let age = Self.ages.firstIndex { versionsBack <= $0 } ?? Self.ages.count - 1
        sizes[age].add(deltaBytes: delta.bytes, plainBytes: delta.plainBytes)
    }
}
