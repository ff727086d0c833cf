package import Dictionaries

/// The versions that nodes have announced: digests without bodies, within bounds of number and bytes.
///
/// The longest known ones are forgotten first. Whoever writes to the shared store chooses what is in it, and clients choose
/// what is looked up; so each step is O(1), whatever they choose. A value behind a lock.
package struct SharedIndex: Sendable {
    /// A version in one chain, or a sealed one, as the table keeps it.
    private struct Listing: Sendable {
        /// The chain of a public version; nil for a sealed one.
        let chain: Chain?
        let rank: Int64
        let bytes: UInt32
        var isInProbation: Bool
        /// The time of the last announcement, in seconds since 1970.
        var announcedAt: UInt32
        /// The holders at other nodes.
        var holders: Int32 = 0
        var contact: UInt32 = 0
    }

    /// A chain with its announced versions.
    private struct Known: Sendable {
        let chain: Chain
        /// Its name, which the names of all its versions share.
        let name: String
        var count: Int
    }

    /// All versions, the one that was announced longest ago first.
    private var listings = RecencyMap<SharedName, Listing>(bytesMax: .max)
    /// The chain of each public body, by its digest alone.
    private var first: [SharedName: String] = [:]
    /// The further chains of bodies that several have: a site may have one page for every path.
    private var others: [SharedName: Set<String>] = [:]
    private var chains: [ChainKey: Known] = [:]
    private let countMax: Int
    private let bytesMax: Int
    /// True once a version was forgotten to keep the bounds.
    package private(set) var isIncomplete = false

    /// The number of chains of one body that a look-up examines.
    static let candidatesMax = 64
    /// The bytes of texts that each version may have on average.
    private static let textBytes = 256

    package init(countMax: Int = 1 << 17) {
        self.countMax = max(countMax, 1)
        bytesMax = self.countMax * (RecencyMap<SharedName, Listing>.overheadBytes + Self.textBytes)
    }

    /// The number of known versions.
    package var count: Int { listings.count }

    // MARK: Changes

    /// Notes an announcement; returns true if the version was not known.
    @discardableResult
    package mutating func insert(_ news: SharedNews, now: Int) -> Bool {
        // A known version becomes the one that was announced last.
        if listings.value(news.name) != nil {
            let _: Void? = listings.update(news.name) {
                $0.announcedAt = UInt32(clamping: now)
                if !news.isInProbation { $0.isInProbation = false }
            }
            return false
        }
        let known = news.chain.map { chain(of: $0, named: news.name.chain ?? $0.name) }
        let name = known.map { SharedName(chain: $0.name, digest: news.name.digest) } ?? news.name
        let listing = Listing(
            chain: known?.chain, rank: news.rank, bytes: UInt32(clamping: news.bytes),
            isInProbation: news.isInProbation, announcedAt: UInt32(clamping: now))
        _ = listings.insert(listing, bytes: news.chain?.textBytes ?? 0, for: name)
        link(name)
        while count > countMax || listings.bytes > bytesMax, let oldest = listings.oldest {
            remove(oldest)
            isIncomplete = true
        }
        return true
    }

    /// Forgets a version; returns false if it was not known.
    @discardableResult
    package mutating func remove(_ name: SharedName) -> Bool {
        guard let listing = listings.remove(name) else { return false }
        unlink(name)
        if let chain = listing.chain?.key {
            chains[chain]?.count -= 1
            if chains[chain]?.count == 0 { chains[chain] = nil }
        }
        return true
    }

    /// Forgets all sealed versions, or all public ones; linear in their number.
    package mutating func removeAll(isSealed: Bool) {
        for name in listings.keys.filter({ $0.isSealed == isSealed }) { remove(name) }
        if count == 0 { isIncomplete = false }
    }

    /// Notes that announcements of versions that may still be there were lost before they were read.
    package mutating func noteLoss() { isIncomplete = true }

    /// Adds what another node says about the holders of a version; returns false if it is not known.
    @discardableResult
    package mutating func add(_ demand: SharedDemand) -> Bool {
        let known: Void? = listings.update(demand.name) {
            let sum = Int64($0.holders) + Int64(demand.change)
            $0.holders = Int32(clamping: max(sum, 0))
            $0.contact = max($0.contact, demand.contact)
        }
        return known != nil
    }

    /// Takes what other nodes have told of the holders of a version, to be counted with those of this node.
    package mutating func takeHolders(of name: SharedName) -> SharedDemand? {
        guard let listing = listings.peek(name), listing.holders > 0 else { return nil }
        let _: Void? = listings.update(name) { $0.holders = 0 }
        return SharedDemand(name: name, change: listing.holders, contact: listing.contact)
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

    // MARK: The chains of a body

    private mutating func link(_ name: SharedName) {
        guard let chain = name.chain else { return }
        let body = SharedName(chain: nil, digest: name.digest)
        if first[body] == nil { first[body] = chain } else { others[body, default: []].insert(chain) }
    }

    private mutating func unlink(_ name: SharedName) {
        guard let chain = name.chain else { return }
        let body = SharedName(chain: nil, digest: name.digest)
        if first[body] == chain {
            first[body] = others[body]?.popFirst()
        } else {
            others[body]?.remove(chain)
        }
        if others[body]?.isEmpty == true { others[body] = nil }
    }

    // MARK: Look-ups

    package func contains(_ name: SharedName) -> Bool { listings.contains(name) }

    /// Returns true if a body is known as a version of a public chain.
    package func contains(_ digest: Digest, in chain: ChainKey) -> Bool {
        chains[chain].map { contains(SharedName(chain: $0.name, digest: digest)) } ?? false
    }

    /// Returns the chains of an authority that have a public version with this digest, as far as they are examined.
    package func candidates(_ digest: Digest, authority: String) -> SharedCandidates {
        let body = SharedName(chain: nil, digest: digest)
        guard let name = first[body] else { return SharedCandidates(digest: digest) }
        let rest = others.isEmpty ? [] : others[body] ?? []
        var candidates = SharedCandidates(digest: digest, isCut: rest.count > Self.candidatesMax)
        for name in [name] + rest.prefix(Self.candidatesMax) {
            guard let chain = listings.peek(SharedName(chain: name, digest: digest))?.chain,
                chain.key.authority == authority
            else { continue }
            candidates.chains.append((chain, name))
        }
        return candidates
    }

    package func news(of name: SharedName) -> SharedNews? {
        listings.peek(name).map {
            var news = SharedNews(name: name, chain: $0.chain?.key, rank: $0.rank, bytes: Int($0.bytes))
            news.isInProbation = $0.isInProbation
            return news
        }
    }

    /// All announcements; linear in their number.
    package var allNews: [SharedNews] { listings.keys.compactMap { news(of: $0) } }

    /// Returns the announcements of versions that must be renewed: those that are in probation or older than `second`.
    package func due(_ names: [SharedName], before second: Int) -> [SharedNews] {
        names.compactMap { name in
            guard let listing = listings.peek(name),
                listing.isInProbation || Int(listing.announcedAt) < second,
                var news = news(of: name)
            else { return nil }
            news.isInProbation = false
            return news
        }
    }

    /// Returns the number of holders that other nodes have told of.
    package func holders(of name: SharedName) -> Int { Int(listings.peek(name)?.holders ?? 0) }
}

/// The announced chains that have one body, as they were at a look-up.
package struct SharedCandidates: Sendable {
    fileprivate let digest: Digest
    fileprivate var chains: [(chain: Chain, name: String)] = []
    /// True if there are more chains than were examined.
    package let isCut: Bool

    fileprivate init(digest: Digest, isCut: Bool = false) {
        self.digest = digest
        self.isCut = isCut
    }

    /// Returns the name of the version in the first chain whose `match` covers the URL.
    ///
    /// The first use of a chain compiles its pattern: never call it while holding a lock.
    package func first(covering url: PathAndQuery) -> SharedName? {
        // Nodes choose the patterns, and clients the URL.
        var budget = MatchBudget()
        return chains.first { $0.chain.covers(url, within: &budget) }
            .map { SharedName(chain: $0.name, digest: digest) }
    }
}
