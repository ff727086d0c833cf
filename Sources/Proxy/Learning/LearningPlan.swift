internal import Storage

/// Why a dictionary is learned or not: the last step of a route in a host.
enum LearningReason: String, Sendable {
    /// First responses have cost less than downloads would.
    case fewFirstVisits = "few-first-visits"
    /// Fewer bodies are proven to be public than are needed to make a dictionary and to judge it.
    case fewProven = "few-proven"
    /// No dictionary would save a client more than its download costs, or more than the present one does.
    case noGain = "no-gain"
    case trained
    /// Trained anew, in place of one that had become worse.
    case replaced
    /// The dictionary saves less than it did, or announcing it does not pay.
    case tooLittle = "too-little"
    case noMemory = "no-memory"
    /// The store cannot read the present dictionary, with which a new one must be compared.
    case unreadable
    /// The store takes no dictionary for the host, or refuses this one: it cannot write, or a purge has come in between.
    case noPlace = "no-place"
    /// The allowance of processor time is used up, or other work waits.
    case noProcessorTime = "no-processor-time"
    /// The configuration no longer wants it.
    case abandoned

    var text: String {
        switch self {
        case .fewFirstVisits: "first responses cost too little for a dictionary"
        case .fewProven: "too few bodies are proven to be public"
        case .noGain: "no dictionary would save more than its download costs"
        case .trained: "a dictionary is learned"
        case .replaced: "a new dictionary is learned"
        case .tooLittle: "the dictionary saves too little, and a new one is tried"
        case .noMemory: "no memory is left to learn a dictionary"
        case .unreadable: "the present dictionary cannot be read"
        case .noPlace: "the store has no place for a dictionary"
        case .noProcessorTime: "no processor time is left to learn a dictionary"
        case .abandoned: "a training was abandoned"
        }
    }
}

/// Decides when a dictionary is learned, and learned anew: pure functions of facts.
enum LearningPlan {
    /// The knowledge about one route in one host.
    struct Facts: Sendable {
        /// The first responses since the last dictionary.
        var visits = FirstVisits()
        /// The number of resources with a version that is proven to be public.
        var proven = 0
        /// True while clients are offered a dictionary.
        var hasDictionary = false
        /// True if that saves a tenth less than it did, or if announcing it does not pay.
        var isTooLittle = false
        /// The second before which no attempt begins.
        var retryAt = 0
    }

    enum Decision: Equatable, Sendable {
        /// Nothing to do; a reason if there is a new one.
        case wait(LearningReason?)
        /// A client gets so many responses for its download.
        case train(responses: Int)
    }

    /// The download of a dictionary of 8 KiB, the smallest that is tried: most are shorter.
    static let downloadBytesMin = 2 << 10
    /// With fewer, one would be judged by chance.
    static let clientsMin = 3
    static let resourcesMin = SampleSplit.samplesMin
    /// The bounds of the number of responses that a client is taken to get for its download.
    static let responses = 2...1000
    private static let retrySeconds = 60
    private static let retrySecondsMax = 86_400

    static func decide(_ facts: Facts, hasProcessorTime: Bool, now: Int) -> Decision {
        guard now >= facts.retryAt, !facts.hasDictionary || facts.isTooLittle else { return .wait(nil) }
        // Ask for the sum first: it costs nothing, and is too small for most routes at most times.
        guard facts.hasDictionary || facts.visits.bytes > clientsMin * downloadBytesMin else {
            return .wait(.fewFirstVisits)
        }
        let (clients, count, bytes) = facts.visits.totals
        guard clients >= clientsMin, facts.hasDictionary || bytes > clients * downloadBytesMin else {
            return .wait(facts.hasDictionary ? nil : .fewFirstVisits)
        }
        guard facts.proven >= resourcesMin else { return .wait(.fewProven) }
        guard hasProcessorTime else { return .wait(.noProcessorTime) }
        return .train(responses: min(max(count / clients, responses.lowerBound), responses.upperBound))
    }

    /// Returns the second before which no attempt follows this one.
    static func retryAt(failures: Int, now: Int) -> Int {
        now + min(retrySeconds << min(max(0, failures - 1), 11), retrySecondsMax)
    }
}
