internal import Dictionaries
internal import HTTP

/// The responses of one URL in the order of time.
struct ResourceHistory: Sendable {
    struct Response: Sendable {
        /// The seconds since the first response.
        let seconds: Double
        fileprivate(set) var body: Body
        /// The head's fields; nil for a file, which has none.
        let headers: Headers?
        /// The time at which it came, in seconds since 1970.
        var receivedAt: Int64 = 0
        /// The size of the body as the server sent it; nil if unknown.
        var sentBytes: Int?
        var credentials: RequestCredentials = []
        /// True if it was asked for at once behind the one before, to see whether the body changes even then.
        var isRepeat = false
    }

    let url: FetchURL
    /// The name in reports: the URL, or the folder of the files.
    let name: String
    /// True if the URL is one that the user gave, and not made up for a folder.
    var isReal = true
    /// True for the files of a folder without folders, which may be versions of one resource or not.
    var isFlatFolder = false
    var method = "GET"
    /// The members that name the operation in the content of the requests.
    var operationKey: [String] = []
    var mediaType: String?
    private(set) var responses: [Response] = []
    /// The bodies without immediate repetitions.
    private(set) var versions: [Body] = []
    /// The number of responses whose body equals the one before.
    private(set) var unchanged = 0
    /// The number of repeats, and of those whose body equals the one before.
    private(set) var repeats = (count: 0, unchanged: 0)

    /// Adds a response later than all others; returns true if its body differs from the one before.
    @discardableResult
    mutating func add(_ response: Response) -> Bool {
        var response = response
        let isRepeat = response.isRepeat && !responses.isEmpty
        if isRepeat { repeats.count += 1 }
        if let last = versions.last, last.digest == response.body.digest {
            unchanged += 1
            if isRepeat { repeats.unchanged += 1 }
            // The former body's memory serves for both.
            response.body = last
            responses.append(response)
            return false
        }
        versions.append(response.body)
        responses.append(response)
        return true
    }

    var credentials: RequestCredentials { responses.reduce(into: []) { $0.formUnion($1.credentials) } }

    var seconds: Double { (responses.last?.seconds ?? 0) - (responses.first?.seconds ?? 0) }

    /// The share of responses, the first and repeats aside, whose body equals the one before; nil for a single response.
    var unchangedShare: Double? {
        let others = responses.count - repeats.count - 1
        return others > 0 ? Double(unchanged - repeats.unchanged) / Double(others) : nil
    }

    /// True if each of many responses had another body, however soon it came after the one before.
    var changesEachTime: Bool {
        let shortest = zip(responses, responses.dropFirst()).map { $1.seconds - $0.seconds }.min()
        return responses.count > 3 && unchanged == 0 && shortest.map { $0 < 2 } == true
    }

    /// The average seconds between two versions; nil if the body changes with every response, or never changed.
    var periodSeconds: Double? {
        guard versions.count > 1, !changesEachTime else { return nil }
        return seconds / Double(versions.count - 1)
    }

    /// The last response that has fields.
    var lastHead: (headers: Headers, receivedAt: Int64)? {
        responses.last { $0.headers != nil }.flatMap { response in
            response.headers.map { ($0, response.receivedAt) }
        }
    }
}

/// All histories of an input, within the limits of memory and number.
struct HistoryCollection: Sendable {
    static let resourcesMax = 1_000
    static let versionsMax = 1_000
    static let bodyBytesMax = 64 << 20
    static let totalBytesMax = 1 << 30

    /// The histories in the order in which their URLs first came.
    private(set) var histories: [ResourceHistory] = []
    /// Inputs that were left out, with the reason, one line each.
    private(set) var warnings: [String] = []
    private var places: [String: Int] = [:]
    private var bytes = 0
    /// True if a body was left out because all of them would be too large together.
    private(set) var isFull = false

    /// Adds a response to the history of its URL, which `make` creates for the first one.
    mutating func add(
        _ response: ResourceHistory.Response, to name: String, make: () -> ResourceHistory
    ) {
        guard !isFull else { return }
        guard response.body.count <= Self.bodyBytesMax else {
            return warn("\(name): left out a body over \(OutputFormat.size(Self.bodyBytesMax))")
        }
        guard bytes + response.body.count <= Self.totalBytesMax else {
            isFull = true
            return warn(
                "left out everything after \(OutputFormat.size(Self.totalBytesMax)) of bodies: give fewer URLs, files or "
                    + "versions")
        }
        guard let place = place(of: name, make) else { return }
        guard histories[place].versions.count < Self.versionsMax else {
            return warn("\(name): left out everything after the first \(Self.versionsMax) versions")
        }
        if histories[place].add(response) { bytes += response.body.count }
    }

    private mutating func place(of name: String, _ make: () -> ResourceHistory) -> Int? {
        if let place = places[name] { return place }
        guard histories.count < Self.resourcesMax else {
            warn("left out everything after the first \(Self.resourcesMax) URLs")
            return nil
        }
        places[name] = histories.count
        histories.append(make())
        return histories.count - 1
    }

    /// Adds a warning once.
    mutating func warn(_ text: String) {
        if !warnings.contains(text), warnings.count < 20 { warnings.append(text) }
    }
}
