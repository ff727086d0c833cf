internal import Dictionaries
internal import Primitives

/// An order to forget the versions that meet all of its conditions; nil is no condition.
package struct PurgeOrder: Sendable, Equatable {
    /// The host of a chain; without a port it stands for all ports.
    package var host: String?
    /// A path, whatever the query, with upper-case digits in its triples.
    package var path: String?
    package var route: String?
    /// The users of private routes; nil for every chain.
    package var owners: Set<IdentityTag>?

    package init(
        host: String? = nil, path: String? = nil, route: String? = nil, owners: Set<IdentityTag>? = nil
    ) {
        (self.host, self.path, self.route, self.owners) = (host, path, route, owners)
    }

    /// The conditions that operators write, in the API and in commands.
    package enum Condition: String, Sendable {
        case host, path, route
    }

    package struct ConditionError: Error, Equatable {
        /// A predicate about the value, such as "begins with /".
        package let expectation: String
    }

    /// Adds a condition as an operator writes it; a path may have characters that clients encode in requests.
    package mutating func add(_ condition: Condition, _ value: String) throws(ConditionError) {
        switch condition {
        case .host: host = value.lowercased()
        case .path:
            guard value.hasPrefix("/"), !value.contains("?") else {
                throw ConditionError(expectation: "begins with / and has no query")
            }
            path = PercentEncoding.upperCased(PercentEncoding.encoded(value))
        case .route: route = value
        }
    }
}

/// An order as a store carries it out.
package struct Purge: Sendable {
    fileprivate var order: PurgeOrder
    /// True for the chains of the order's route; the URL is that of the version, if it is known.
    private let isOfRoute: @Sendable (_ route: String, ChainKey, _ url: String?) -> Bool
    /// The time of admission, in microseconds since 1970, up to which versions are removed.
    private var rankMax: Int64
    /// That time for each user of the order: orders for several users are carried out together, and what one of them got
    /// between two of them stays.
    private var rankMaxOfOwners: [IdentityTag: Int64]?
    /// The time of admission up to which learned dictionaries are removed: that at which this node heeds the order, as they have
    /// text of versions that are older than they.
    fileprivate var heededAt: Int64
    /// True for an order that others heeded before this node read it: what was learned since then has nothing of what it names.
    private let isFormer: Bool

    package init(
        _ order: PurgeOrder, rankMax: Int64 = .max, isFormer: Bool = false,
        isOfRoute: @escaping @Sendable (_ route: String, ChainKey, _ url: String?) -> Bool
    ) {
        (self.order, self.rankMax, self.isFormer, self.isOfRoute) = (order, rankMax, isFormer, isOfRoute)
        heededAt = isFormer ? rankMax : SystemClock.unixMicroseconds
        rankMaxOfOwners = order.owners.map { owners in
            Dictionary(uniqueKeysWithValues: owners.map { ($0, rankMax) })
        }
    }

    /// Returns true if a version is to be removed; its URL is nil if it is unknown, as in sealed chains.
    package func includes(_ chain: ChainKey, url: String?, rank: Int64) -> Bool {
        guard let last = rankMax(of: chain, url: url), rank <= last else { return false }
        if let host = order.host, !Self.isHost(host, of: chain.authority) { return false }
        if let path = order.path, !Self.isPath(path, of: chain, url: url) { return false }
        return order.route.map { isOfRoute($0, chain, url) } ?? true
    }

    /// Returns true if a version of a public chain, whose URL is known, is to be removed.
    package func includes(_ version: Version) -> Bool {
        includes(version.chainKey, url: version.url, rank: version.rank)
    }

    /// Returns the time of admission up to which versions of a chain are removed; nil if it is none of the order's users'.
    private func rankMax(of chain: ChainKey, url: String?) -> Int64? {
        if let rankMaxOfOwners {
            guard case .private(let tag) = chain.scope else { return nil }
            return rankMaxOfOwners[tag]
        }
        return url == VersionKey.learnedURL(of: chain) ? heededAt : rankMax
    }

    /// Has the order be heeded now, unless it was heeded before.
    fileprivate mutating func heed(at now: Int64) { if !isFormer { heededAt = now } }

    /// The time up to which the order may include a version.
    fileprivate var last: Int64 { min(rankMax, heededAt) }

    /// Has the order include nothing that comes after a time.
    fileprivate mutating func limit(to time: Int64) {
        rankMax = min(rankMax, time)
        rankMaxOfOwners = rankMaxOfOwners?.mapValues { min($0, time) }
        heededAt = min(heededAt, time)
    }

    /// Returns the order that does what both do, if they differ only in their users.
    fileprivate func merged(with later: Purge) -> Purge? {
        guard conditions == later.conditions, isFormer == later.isFormer else { return nil }
        var merged = later
        merged.rankMax = max(rankMax, later.rankMax)
        merged.heededAt = max(heededAt, later.heededAt)
        if isRepeated(by: later) { return merged }
        guard let ranks = rankMaxOfOwners, let others = later.rankMaxOfOwners,
            ranks.count + others.count <= Self.ownersMax
        else { return nil }
        let all = ranks.merging(others, uniquingKeysWith: max)
        merged.rankMaxOfOwners = all
        merged.order.owners = Set(all.keys)
        return merged
    }

    /// The order without its users.
    private var conditions: PurgeOrder {
        PurgeOrder(host: order.host, path: order.path, route: order.route)
    }

    /// Returns true if a later order for everybody is the same.
    fileprivate func isRepeated(by later: Purge) -> Bool {
        later.isForAll && order == later.order && isFormer == later.isFormer
    }

    /// Returns true if a later order is for users, too, and the same otherwise.
    fileprivate func isForUsers(as later: Purge) -> Bool {
        order.owners != nil && later.order.owners != nil && conditions == later.conditions
            && isFormer == later.isFormer
    }

    /// Returns true if another order includes no version that this one does not, learned dictionaries apart.
    fileprivate func covers(_ other: Purge) -> Bool {
        guard let ranks = rankMaxOfOwners, let others = other.rankMaxOfOwners else {
            return order == other.order && rankMax >= other.rankMax
        }
        return conditions == other.conditions
            && others.allSatisfy { owner, rank in ranks[owner].map { $0 >= rank } == true }
    }

    /// True for orders that name neither users nor a route, which may be for other paths later.
    fileprivate var isForAll: Bool { order.owners == nil && order.route == nil }

    private static let ownersMax = 4_096

    private static func isHost(_ host: String, of authority: String) -> Bool {
        authority == host || authority.hasPrefix(host + ":")
    }

    /// Returns true if the version came from the path, or if its chain may be a dictionary there.
    private static func isPath(_ path: String, of chain: ChainKey, url: String?) -> Bool {
        if url.map({ PathAndQuery(PercentEncoding.upperCased($0)).path == path }) == true { return true }
        let match = PercentEncoding.upperCased(chain.match)
        // Most chains are for one path, which their match spells.
        if PathAndQuery(URLPattern.unescaped(match)).path == path { return true }
        guard match.utf8.contains(where: { "*:({".utf8.contains($0) }) else { return false }
        var budget = MatchBudget()
        return (try? URLPattern(match))?.matches(path: path, query: nil, within: &budget) == true
    }
}

/// Purges in their order; a pure value.
package struct PurgeList: Sendable {
    private(set) var all: [Purge] = []
    /// The number of purges beyond which the oldest goes.
    private let countMax: Int
    /// The time up to which one that went may have included anything, in microseconds since 1970.
    private(set) var forgottenRank = Int64.min

    package init(countMax: Int = 256) { self.countMax = countMax }

    package var isEmpty: Bool { all.isEmpty }

    /// Adds a purge.
    ///
    /// Those that differ only in their users are one, so that many log-outs cost one visit of the store. One that comes again
    /// and again takes one place.
    package mutating func add(_ purge: Purge) {
        let former =
            purge.isForAll
            ? all.firstIndex { $0.isRepeated(by: purge) } : all.lastIndex { $0.isForUsers(as: purge) }
        if let former, let merged = all[former].merged(with: purge) {
            // Behind the others, since the first one goes once there are too many.
            all.remove(at: former)
            all.append(merged)
        } else {
            all.append(purge)
            guard all.count > countMax else { return }
            forgottenRank = max(forgottenRank, all.removeFirst().last)
        }
    }

    /// Forgets future times once the clock was set back.
    mutating func turnBack(to time: Int64) {
        for index in all.indices { all[index].limit(to: time) }
        forgottenRank = min(forgottenRank, time)
    }

    package mutating func takeAll() -> [Purge] { exchange(&all, with: []) }

    /// Returns true if one of the purges includes all that another one does.
    package func covers(_ purge: Purge) -> Bool { all.contains { $0.covers(purge) } }

    package func include(_ chain: ChainKey, url: String?, rank: Int64) -> Bool {
        all.contains { $0.includes(chain, url: url, rank: rank) }
    }

    /// Returns true if a version may not come back: an order includes it, or one that went may have.
    package func forbid(_ chain: ChainKey, url: String?, rank: Int64) -> Bool {
        rank <= forgottenRank || include(chain, url: url, rank: rank)
    }
}

/// The versions that a purge has removed, and whether the disk has taken that.
package struct Purged: Sendable {
    package let versions: [Version]
    /// False if the disk failed, or hangs: as long as it does, a restart would use the rows again.
    package let areErased: Bool
}

extension StoreUpkeep {
    /// Removes every version that one of the purges includes, or with `isDryRun` finds them only.
    ///
    /// Once it returns, no look-up finds them, and their bytes are overwritten on disk if this process writes the store. A
    /// copy that had begun before (`StoreAdmission.reserve`) is not admitted. A disk that hangs may take longer to overwrite them.
    /// It visits every version and waits for the disk: never call it on an event loop.
    @discardableResult
    package func purge(_ purges: [Purge], isDryRun: Bool = false) -> Purged {
        let now = SystemClock.unixMicroseconds
        let purges = purges.map { purge in
            var purge = purge
            purge.heed(at: now)
            return purge
        }
        if !isDryRun { refuseCopies(of: purges) }
        let chosen = writer.versions(includedBy: purges, now: now)
        guard !isDryRun else { return Purged(versions: chosen, areErased: false) }
        _ = memory.evict(chosen, reason: .removed)
        let areErased = Guarded(false)
        writer.onQueue(within: Self.eraseSeconds) { writer in
            let isDone = writer.erase(chosen)
            areErased.withLock { $0 = isDone }
        }
        return Purged(versions: chosen, areErased: areErased.withLock { $0 })
    }

    /// The time in which a disk that does not hang has overwritten what is removed.
    private static let eraseSeconds = 10.0

    /// Has admissions refuse copies that began before now.
    ///
    /// Those that were admitted before are in the index, where the caller looks next.
    private func refuseCopies(of purges: [Purge]) {
        let now = SystemClock.unixMicroseconds
        memory.state.withLock { state in
            for var purge in purges {
                purge.limit(to: now)
                state.purges.add(purge)
            }
        }
    }
}

extension StoreWriter {
    /// Returns the versions that one of the purges includes; `now` is in microseconds since 1970.
    fileprivate func versions(includedBy purges: [Purge], now: Int64) -> [Version] {
        var chosen: [Version] = []
        var unsure: [Int64: Version] = [:]
        func isChosen(_ version: Version, _ url: String?) -> Bool {
            // What is here came before now, although its rank may be later: by a clock that was set back since.
            let rank = min(version.rank, now)
            return purges.contains { $0.includes(version.chainKey, url: url, rank: rank) }
        }
        for version in memory.index.allVersions() {
            let isSealed = version.chainKey.scope.isSealed
            let url = version.isLearned ? VersionKey.learnedURL(of: version.chainKey) : version.url
            if isChosen(version, isSealed || !version.hasOwnURL && !version.isLearned ? nil : url) {
                chosen.append(version)
            } else if !isSealed, !version.hasOwnURL {
                unsure[version.id] = version
            }
        }
        if !unsure.isEmpty, purges.contains(where: { $0.order.path != nil || $0.order.route != nil }) {
            try? openDatabase?.forEachURL { row, url in
                if let version = unsure[row], isChosen(version, url) { chosen.append(version) }
            }
        }
        return chosen
    }

    /// Removes what orders include that this process heeded while another one still wrote the store.
    func removePurged() {
        let purges = memory.state.withLock { $0.purges.all }
        guard !purges.isEmpty else { return }
        let chosen = versions(includedBy: purges, now: SystemClock.unixMicroseconds)
        guard !chosen.isEmpty else { return }
        _ = memory.evict(chosen, reason: .removed)
        erase(chosen)
    }
}
