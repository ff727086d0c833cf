/// The numbers of a connection's streams.
struct StreamIdentifiers: Sendable {
    /// The newest stream of the client.
    private(set) var last: Int32 = 0
    /// The newest streams that this side ended before the client did, whose last frames may still come.
    private(set) var endedEarly = RecentStreams()
    /// The newest streams that the client ended.
    private(set) var endedByClient = RecentStreams()

    mutating func begin(_ id: Int32) { last = id }

    mutating func end(_ id: Int32, byClient isByClient: Bool) {
        if isByClient { endedByClient.insert(id) } else { endedEarly.insert(id) }
    }

    /// The newest numbers of a set, the oldest forgotten first.
    struct RecentStreams: Sendable {
        private var numbers: [Int32] = []
        private var next = 0
        private static let countMax = 128

        func contains(_ number: Int32) -> Bool { numbers.contains(number) }

        mutating func insert(_ number: Int32) {
            guard numbers.count == Self.countMax else { return numbers.append(number) }
            numbers[next] = number
            next = (next + 1) % Self.countMax
        }
    }
}
