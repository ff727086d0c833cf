/// The tags of the ids that all nodes have promised, as far as they are announced, within a bound.
///
/// Clients can make up any number. So the tags of one client network displace each other: once there are too many, the
/// oldest of the network that has the most goes. A value behind a lock.
package struct SharedPromises: Sendable {
    /// The number of networks that are told apart, as in `PrivateOrder`.
    private static let networkCount = PrivateOrder.networkCount

    private var networks: [PromisedTag: UInt16] = [:]
    /// The tags of each network, the oldest first; slices, since these lose their first element in constant time.
    private var queues = [ArraySlice<PromisedTag>](repeating: [], count: networkCount)
    private let countMax: Int

    package init(countMax: Int = 1 << 17) { self.countMax = countMax }

    package var count: Int { networks.count }

    package func contains(_ tag: PromisedTag) -> Bool { networks[tag] != nil }

    /// Returns what was announced about a tag.
    package func promise(_ tag: PromisedTag) -> PromisedIDs.Promise? {
        networks[tag].map { PromisedIDs.Promise(tag, network: $0) }
    }

    /// Adds one; has no effect if it is known.
    package mutating func insert(_ promise: PromisedIDs.Promise) {
        guard networks.updateValue(promise.network, forKey: promise.tag) == nil else { return }
        queues[Int(promise.network) % Self.networkCount].append(promise.tag)
        guard count > countMax,
            let fullest = queues.indices.max(by: { queues[$0].count < queues[$1].count }),
            let oldest = queues[fullest].popFirst()
        else { return }
        networks[oldest] = nil
    }
}

/// The promised ids of this node that wait to be announced, within a bound; a pure value.
package struct WaitingPromises: Sendable {
    private var waiting: [PromisedIDs.Promise] = []
    private var isScheduled = false

    private static let countMax = 8192
    /// The number that one entry of the stream has room for.
    static let batchCount = SharedNews.batchBytesMax / PromisedIDs.encodedBytes

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }

    /// Adds some, and returns true if the caller must schedule their announcement; the oldest go if there are too many.
    package mutating func add(_ promises: some Collection<PromisedIDs.Promise>) -> Bool {
        waiting += promises
        if waiting.count > Self.countMax { waiting.removeFirst(waiting.count - Self.countMax) }
        guard !isScheduled, !waiting.isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// Puts back what could not be announced; the caller schedules another announcement.
    package mutating func putBack(_ promises: [PromisedIDs.Promise]) {
        waiting = promises + waiting
        if waiting.count > Self.countMax { waiting.removeFirst(waiting.count - Self.countMax) }
    }

    package mutating func endSchedule() { isScheduled = false }

    /// Takes those of one entry.
    package mutating func take() -> [PromisedIDs.Promise] {
        let taken = Array(waiting.prefix(Self.batchCount))
        waiting.removeFirst(taken.count)
        return taken
    }
}
