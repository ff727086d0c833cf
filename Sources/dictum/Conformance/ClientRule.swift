internal import Dictionaries

/// A rule for clients, and the requests that show whether a client follows it.
struct ClientRule: Sendable {
    let name: String
    /// The place of the rule, such as `RFC 9842 2.2.1`.
    let section: String
    let text: String
    /// The requests that the client is told to make, in their order.
    let steps: [Step]
    /// Resources that the client asks for by itself, if it does.
    var others: [Step] = []
    /// The path without which the rule was not tried.
    var needed: String?
    /// True for good advice that no RFC gives: a client that does otherwise has not tried it.
    var isAdvice = false
}

/// A request that the client is told to make, and the response to it.
struct Step: Sendable {
    enum Naming: Sendable, Equatable {
        case any
        case nothing
        /// None, and no coding that needs one either.
        case nothingYet
        case body(of: String)
        /// None, or that of this path if the client knows no destinations (RFC 9842 section 2.1.2).
        case onlyWithoutDestinations(String)
    }

    enum Response: Sendable, Equatable {
        /// The body, in the first of these codings that the request has a dictionary for.
        case body([ContentCoding])
        /// A delta that no client may use, as long as the request names a dictionary.
        case damaged(Damage)
        /// A body over the dictionary in a frame with a window of two to this power.
        case window(log: Int)
        /// A delta, although the request names no dictionary.
        case unasked
        /// A redirect to this path of the other origin.
        case redirect(to: String)
        case missing
    }

    enum Damage: Sendable, Equatable {
        case checksum, hash, cutOff, brokenOff, bomb
    }

    let path: String
    var fields: [(name: String, value: String)] = []
    var names = Naming.any
    var sends = Response.body(ContentCoding.overDictionary)
    /// True for the judge's other origin.
    var isElsewhere = false
    var user = Step.users[0]
    /// True if the request comes seconds after the one before it.
    var isLater = false
    var needsHTTP2 = false
    /// True if a 304 to the client's own condition is what is tried.
    var needsConfirmation = false
    /// The length of the body; nil for a short one.
    var bytes: Int?

    /// The users of the app; the first one makes all requests of which nothing else is said.
    static let users = ["alice", "bob"]

    /// The life of a response that is stale at the next step.
    static let briefSeconds = 3
    static let briefLife = "max-age=\(briefSeconds)"

    /// The length of the dictionary whose windows are larger than 8 MiB.
    static let largeBytes = 14 << 20

    /// A response that offers its body as a dictionary, by default for its own path.
    static func offer(
        _ path: String, _ members: String? = nil, life: String = "max-age=600", names: Naming = .any,
        also fields: [(name: String, value: String)] = []
    ) -> Step {
        let offer = members ?? #"match="\#(path.prefix { $0 != "?" })""#
        return Step(
            path: path, fields: [("use-as-dictionary", offer), ("cache-control", life)] + fields, names: names
        )
    }

    /// A response that offers nothing.
    static func fetch(
        _ path: String, names: Naming, sends: Response = .body(ContentCoding.overDictionary),
        later isLater: Bool = false
    ) -> Step {
        Step(path: path, names: names, sends: sends, isLater: isLater)
    }

    /// Returns an offer, and a fetch of the same path, which names the offered body unless `names` says otherwise.
    static func twice(
        _ path: String, _ members: String? = nil, life: String = "max-age=600",
        also fields: [(name: String, value: String)] = [], then names: Naming? = nil,
        sends: Response = .body(ContentCoding.overDictionary), later: Bool = false
    ) -> [Step] {
        let second = fetch("\(path)?2", names: names ?? .body(of: path), sends: sends, later: later)
        return [offer(path, members, life: life, also: fields), second]
    }

    /// Returns the same step with something else about it.
    func with(_ change: (inout Step) -> Void) -> Step {
        var step = self
        change(&step)
        return step
    }

    /// True if the response is fresh for seconds only.
    var isBrief: Bool {
        let life = CacheControl(fields.filter { $0.name == "cache-control" }.map(\.value)).maxAge
        return life.map { $0 <= Self.briefSeconds } ?? false
    }

    var elsewhere: Step { with { $0.isElsewhere = true } }
    var later: Step { with { $0.isLater = true } }
    func by(_ user: String) -> Step { with { $0.user = user } }
}
