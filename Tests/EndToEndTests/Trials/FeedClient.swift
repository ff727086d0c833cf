internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

/// A client that follows one path of the feed through restarts of the proxy, and remembers its offers.
///
/// Used by one thread at a time.
// @unchecked proof: one thread at a time calls it, and gates stand between them.
final class FeedClient: @unchecked Sendable {
    /// A dictionary that the client may advertise from now on.
    struct Offered {
        let version: Int
        /// The time at which the response was complete.
        let at: ContinuousClock.Instant
    }

    /// The number of requests per version, as clients poll a feed.
    private static let pollsPerVersion = 4

    let path: Int
    private(set) var offered: [Offered] = []
    /// The last requested version, even if its response did not arrive.
    private(set) var lastAsked = 0
    /// The newest version that the client was offered.
    private var held: Int?
    /// The last delta it got, for the judge.
    private(set) var lastDelta: ForeignJudge.Answer?
    private let firstOffer: Gate
    /// The last deadline of `forget(after:keeping:)`, for the age of a lost version in a failure.
    private var forgottenAfter = ContinuousClock.now

    init(path: Int, firstOffer: Gate = Gate()) {
        self.path = path
        self.firstOffer = firstOffer
    }

    /// Asks for one version after the other until the proxy is gone; opens its gate at the first offer.
    func poll(port: UInt16) {
        var isFirst = true
        guard let socket = try? WireSocket(port: port) else { return }
        while true {
            lastAsked += 1
            let version = lastAsked
            for number in 0..<Self.pollsPerVersion {
                // A client with a usable dictionary does not get an offer each time. A client without one does.
                let answer = number == 1 ? try? askAnew(version, on: socket) : try? ask(version, on: socket)
                guard let answer, answer.isWhole else { return }
                guard answer["Use-As-Dictionary"] != nil, held != version else { continue }
                offered.append(Offered(version: version, at: .now))
                held = version
                if isFirst { firstOffer.open() }
                isFirst = false
            }
        }
    }

    /// Asks for the next versions; each must come as a delta over the one before, if there is one, and be offered.
    func follow(port: UInt16, versions count: Int) throws -> [ForeignJudge.Answer] {
        let socket = try WireSocket(port: port)
        var deltas: [ForeignJudge.Answer] = []
        for _ in 0..<count {
            lastAsked += 1
            // A client without a dictionary has the body become a version, which is then offered to all.
            _ = try askAnew(lastAsked, on: socket)
            let answer = try ask(lastAsked, on: socket)
            try #require(answer["Use-As-Dictionary"] != nil, "\(answer)")
            if held != nil {
                try #require(answer["Content-Encoding"] == "dcz", "\(answer)")
                deltas.append(try #require(lastDelta))
            }
            offered.append(Offered(version: lastAsked, at: .now))
            held = lastAsked
        }
        return deltas
    }

    /// Sends a request without a dictionary.
    private func askAnew(_ version: Int, on socket: WireSocket) throws -> WireMessage {
        try socket.get(ChangingFeed.target(path: path, version: version))
    }

    private func ask(_ version: Int, on socket: WireSocket) throws -> WireMessage {
        let target = ChangingFeed.target(path: path, version: version)
        guard let held else { return try socket.get(target) }
        let dictionary = ChangingFeed.bytes(path: path, version: held)
        let answer = try socket.get(target, "dcz", over: dictionary)
        if answer.isWhole, let coding = answer["Content-Encoding"] {
            lastDelta = ForeignJudge.Answer(
                name: "version \(version) of path \(path) over \(held)", coding: coding,
                dictionary: dictionary,
                wire: answer.body, body: ChangingFeed.bytes(path: path, version: version))
        }
        return answer
    }

    /// Forgets versions that a proxy may have dropped above its limit, or may not have written in time.
    ///
    /// Every requested version may have been admitted, even if its response did not arrive.
    func forget(after deadline: ContinuousClock.Instant, keeping count: Int) {
        forgottenAfter = deadline
        offered.removeAll { $0.at > deadline || $0.version <= lastAsked - count }
        held = offered.last?.version
    }

    /// Advertises each usable dictionary for a response that is not stored, and returns the responses.
    func advertiseAll(port: UInt16) throws -> [ForeignJudge.Answer] {
        let socket = try WireSocket(port: port)
        return try offered.map { offered in
            let dictionary = ChangingFeed.bytes(path: path, version: offered.version)
            // No client has requested this version, so its response is a delta over this dictionary or no delta.
            let next = 1_000_000 + offered.version
            // One delta in eight goes to the judge's slower decoder.
            let coding = offered.version % 8 == 0 ? "dcb" : "dcz"
            var last: WireMessage?
            // The contract lets it be cold: then it is being read from disk.
            try waitUntil("the dictionary is read") {
                last = try socket.get(
                    ChangingFeed.target(path: path, version: next, isAdmitted: false), coding,
                    over: dictionary)
                return last?["Dictum-Explain"]?.contains("reason=dictionary-cold") != true
            }
            let answer = try #require(last)
            let explanation = answer["Dictum-Explain"] ?? ""
            return ForeignJudge.Answer(
                name:
                    "\(coding) over version \(offered.version) of path \(path), explained as \(explanation)",
                coding: answer["Content-Encoding"] == coding ? coding : "none", dictionary: dictionary,
                wire: answer.body, body: ChangingFeed.bytes(path: path, version: next))
        }
    }
}
