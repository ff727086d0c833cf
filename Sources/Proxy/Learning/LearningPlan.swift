/// Why a dictionary is learned or not: the last step of a route in a host.
enum LearningReason: String, CaseIterable, Encodable, Sendable {
    /// First responses have cost less than downloads would.
    case fewFirstVisits = "few-first-visits"
    /// Fewer bodies are proven to be public than are needed to make a dictionary and to judge it.
    case fewProven = "few-proven"
    /// No dictionary would save a client more than its download costs, or more than the present one does.
    case noGain = "no-gain"
    case trained
    /// Trained anew, in place of one that had become worse.
    case replaced
    /// The dictionary is as good as it was.
    case kept
    /// Responses over the dictionary have become longer.
    case ratioFell = "ratio-fell"
    case noMemory = "no-memory"
    /// The allowance of processor time is used up, or other work waits.
    case noProcessorTime = "no-processor-time"

    var text: String {
        switch self {
        case .fewFirstVisits: "first responses cost too little for a dictionary"
        case .fewProven: "too few bodies are proven to be public"
        case .noGain: "no dictionary would save more than its download costs"
        case .trained: "a dictionary is learned"
        case .replaced: "a new dictionary is learned"
        case .kept: "the dictionary is kept"
        case .ratioFell: "the dictionary saves less than it did, and a new one is learned"
        case .noMemory: "no memory is left to learn a dictionary"
        case .noProcessorTime: "no processor time is left to learn a dictionary"
        }
    }
}

/// Decides when a dictionary is learned, measured and learned anew: pure functions of facts.
enum LearningPlan {
    /// What is known of one route in one host.
    struct Facts: Sendable {
        /// The first responses since the last attempt.
        var visits = FirstVisits()
        /// True while clients are offered a dictionary.
        var hasDictionary = false
        /// The bytes without a dictionary, divided by those over it: at its training, and now.
        var trainedRatio: Double?
        var ratio: Double?
        var measuredAt = 0
        /// The attempts in a row that made no dictionary, and the second before which none begins.
        var failures = 0
        var retryAt = 0
    }

    enum Decision: Equatable, Sendable {
        /// Nothing to do; a reason if there is a new one.
        case wait(LearningReason?)
        case measure
        /// A client gets so many responses for its download.
        case train(responses: Int)
    }

    /// What a client pays at least for a dictionary: one of 8 KiB, the smallest that is tried.
    static let downloadBytesMin = 2 << 10
    /// With fewer, one would be judged by chance.
    static let clientsMin = 3
    static let resourcesMin = 8
    /// The bounds of the number of responses that a client is taken to get for its download.
    static let responses = 2...1000
    static let measureSeconds = 600
    /// The part of the ratio at the training below which a dictionary is learned anew.
    static let ratioKept = 0.9
    private static let retrySeconds = 60
    private static let retrySecondsMax = 86_400

    static func decide(_ facts: Facts, hasProcessorTime: Bool, now: Int) -> Decision {
        guard facts.hasDictionary else { return first(facts, hasProcessorTime, now) }
        if let ratio = facts.ratio, hasFallen(ratio, from: facts.trainedRatio), now >= facts.retryAt {
            return hasProcessorTime ? .train(responses: responses(facts)) : .wait(.noProcessorTime)
        }
        guard now - facts.measuredAt >= measureSeconds, now >= facts.retryAt else { return .wait(nil) }
        return hasProcessorTime ? .measure : .wait(.noProcessorTime)
    }

    private static func first(_ facts: Facts, _ hasProcessorTime: Bool, _ now: Int) -> Decision {
        guard now >= facts.retryAt else { return .wait(nil) }
        let (clients, _, bytes) = facts.visits.totals
        guard clients >= clientsMin, bytes > clients * downloadBytesMin else { return .wait(.fewFirstVisits) }
        return hasProcessorTime ? .train(responses: responses(facts)) : .wait(.noProcessorTime)
    }

    private static func responses(_ facts: Facts) -> Int {
        let (clients, count, _) = facts.visits.totals
        return min(max(count / max(1, clients), responses.lowerBound), responses.upperBound)
    }

    static func hasFallen(_ ratio: Double, from trained: Double?) -> Bool {
        trained.map { ratio < ratioKept * $0 } ?? false
    }

    /// Returns the second before which no attempt follows this one.
    static func retryAt(failures: Int, now: Int) -> Int {
        now + min(retrySeconds << min(max(0, failures - 1), 11), retrySecondsMax)
    }
}
