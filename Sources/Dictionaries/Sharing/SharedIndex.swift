internal import Primitives

/// The versions that nodes have announced: digests without bodies, within a bound.
///
/// The longest known ones are forgotten first. A value behind a lock.
package struct SharedIndex: Sendable {
    /// A version in one chain, or a sealed one, as the table keeps it.
    private struct Listing: Sendable {
        /// The chain of a public version; nil for a sealed one.
        let chain: Chain?
        /// The name of the chain, which all its listings share.
        let chainName: String?
        let rank: Int64
        let bytes: UInt32
        var isProvisional: Bool
        /// The time of the last announcement, in seconds since 1970.
        var announcedAt: UInt32
        /// The holders at other nodes.
        var holders: Int32 = 0
        var contact: UInt32 = 0
        /// The number of the announcement; the queue names older ones too.
        var number: UInt64
    }

    /// A chain with its announced versions.
    private struct Known: Sendable {
        let chain: Chain
        let name: String
        var count: Int
    }

    private var first: [Digest: Listing] = [:]
    /// The listings of digests that several chains have.
    private var others: [Digest: [Listing]] = [:]
    private var chains: [ChainKey: Known] = [:]
    private var queue: [(name: SharedName, number: UInt64)] = []
    private var queueStart = 0
    private var lastNumber: UInt64 = 0
    private let countMax: Int
    /// The number of known versions.
    package private(set) var count = 0
    /// True once a version was forgotten to keep the bound.
    package private(set) var isIncomplete = false

    /// The number of chains of one digest that a look-up examines.
    private static let candidatesMax = 64

    package init(countMax: Int = 1 << 17) {
        self.countMax = max(countMax, 1)
    }

    // MARK: Changes

    /// Notes an announcement; returns true if the version was not known.
    @discardableResult
    package mutating func insert(_ news: SharedNews, now: Int) -> Bool {
        lastNumber += 1
        let number = lastNumber
        queue.append((news.name, number))
        defer { keepBound() }
        let isKnown =
            update(news.name) {
                $0.announcedAt = UInt32(clamping: now)
                $0.number = number
                if !news.isProvisional { $0.isProvisional = false }
            } != nil
        guard !isKnown else { return false }
        let known = news.chain.map { chain(of: $0, named: news.name.chain ?? $0.name) }
        let listing = Listing(
            chain: known?.chain, chainName: known?.name, rank: news.rank, bytes: UInt32(clamping: news.bytes),
            isProvisional: news.isProvisional,
            announcedAt: UInt32(clamping: now), number: number)
        count += 1
        if first[news.name.digest] == nil {
            first[news.name.digest] = listing
        } else {
            others[news.name.digest, default: []].append(listing)
        }
        return true
    }

    /// Forgets a version; returns false if it was not known.
    @discardableResult
    package mutating func remove(_ name: SharedName) -> Bool {
        guard let listing = listing(name) else { return false }
        var rest = others.removeValue(forKey: name.digest) ?? []
        if first[name.digest]?.number == listing.number {
            first[name.digest] = rest.isEmpty ? nil : rest.removeFirst()
        } else {
            rest.removeAll { $0.number == listing.number }
        }
        if !rest.isEmpty { others[name.digest] = rest }
        count -= 1
        if let chain = listing.chain?.key {
            chains[chain]?.count -= 1
            if chains[chain]?.count == 0 { chains[chain] = nil }
        }
        return true
    }

    /// Adds what another node says about the holders of a version; returns false if it is not known.
    @discardableResult
    package mutating func add(_ demand: SharedDemand) -> Bool {
        update(demand.name) {
            let sum = Int64($0.holders) + Int64(demand.change)
            $0.holders = Int32(clamping: max(sum, 0))
            $0.contact = max($0.contact, demand.contact)
        } != nil
    }

    private mutating func chain(of key: ChainKey, named name: String) -> Known {
        if let known = chains[key] {
            chains[key]?.count += 1
            return known
        }
        let known = Known(chain: Chain(key), name: name, count: 1)
        chains[key] = known
        return known
    }

    private mutating func keepBound() {
        while count > countMax, queueStart < queue.count {
            let oldest = queue[queueStart]
            queueStart += 1
            if listing(oldest.name)?.number == oldest.number {
                remove(oldest.name)
                isIncomplete = true
            }
        }
        guard queue.count > 2 * countMax + 64 || queueStart > countMax else { return }
        // Each version has one entry that counts, so the rest can go.
        queue = queue[queueStart...].filter { listing($0.name)?.number == $0.number }
        queueStart = 0
    }

    // MARK: Look-ups

    package func contains(_ name: SharedName) -> Bool { listing(name) != nil }

    /// Returns the name of a public version with this digest in a chain of the authority whose `match` covers the URL.
    package func find(_ digest: Digest, authority: String, url: PathAndQuery) -> SharedName? {
        guard let listing = first[digest] else { return nil }
        // Nodes choose the patterns, and clients the URL.
        var budget = MatchBudget()
        let rest = others.isEmpty ? [] : others[digest] ?? []
        for listing in [listing] + rest.prefix(Self.candidatesMax) {
            guard let chain = listing.chain, chain.key.authority == authority,
                chain.covers(url, within: &budget)
            else { continue }
            return SharedName(chain: listing.chainName, digest: digest)
        }
        return nil
    }

    /// Returns true if a body is known as a version of a public chain.
    package func contains(_ digest: Digest, in chain: ChainKey) -> Bool {
        guard let listing = first[digest] else { return false }
        return listing.chain?.key == chain || others[digest]?.contains { $0.chain?.key == chain } == true
    }

    /// Returns the announcement of a version.
    package func news(of name: SharedName) -> SharedNews? {
        listing(name).map {
            var news = SharedNews(name: name, chain: $0.chain?.key, rank: $0.rank, bytes: Int($0.bytes))
            news.isProvisional = $0.isProvisional
            return news
        }
    }

    /// Returns the announcements of versions that must be renewed: those that are provisional or older than `second`.
    package func due(_ names: [SharedName], before second: Int) -> [SharedNews] {
        names.compactMap { name in
            guard let listing = listing(name), listing.isProvisional || Int(listing.announcedAt) < second,
                var news = news(of: name)
            else { return nil }
            news.isProvisional = false
            return news
        }
    }

    /// Returns the number of holders that other nodes have told of.
    package func holders(of name: SharedName) -> Int { Int(listing(name)?.holders ?? 0) }

    /// Returns the time of the last announcement, in seconds since 1970.
    package func announcedAt(_ name: SharedName) -> Int? { listing(name).map { Int($0.announcedAt) } }

    private func listing(_ name: SharedName) -> Listing? {
        guard let listing = first[name.digest] else { return nil }
        if listing.chainName == name.chain { return listing }
        return others[name.digest]?.first { $0.chainName == name.chain }
    }

    private mutating func update(_ name: SharedName, _ change: (inout Listing) -> Void) -> Void? {
        guard var listing = first[name.digest] else { return nil }
        if listing.chainName == name.chain {
            change(&listing)
            first[name.digest] = listing
            return ()
        }
        guard var all = others[name.digest], let place = all.firstIndex(where: { $0.chainName == name.chain })
        else { return nil }
        change(&all[place])
        others[name.digest] = all
        return ()
    }
}
