/// The versions of a store in the order in which they go.
///
/// Each version has a standing. In each standing those come first that nobody has been offered and nobody has
/// advertised for the longest time, over the store and within each chain. Every step is O(1), however many there are.
/// A value beside the index, by the same places; each chain notes its own place in it, so a copy must not go on where
/// the original does.
struct Retention: Sendable {
    /// What is known of the clients that hold a version; those of the first go first when room is short.
    enum Standing: Int, CaseIterable, Sendable {
        /// It was offered to clients that had nothing of the chain, and none of them has come back.
        case newcomer
        /// Its only holder has been offered another version.
        case unheld
        /// It had several holders, and others have been offered in its place as often.
        case spent
        /// Clients that have come back hold it.
        case held

        /// Its label in metrics.
        var name: String { "\(self)" }
    }

    /// The neighbours in one list, as places.
    private struct Links: Sendable {
        var older: Int32 = -1
        var newer: Int32 = -1
    }

    private struct Node: Sendable {
        var standing = Standing.newcomer
        /// The place of the chain; -1 in a node without a version.
        var chain: Int32 = -1
        /// A part of the row: the object of a version that is gone may say a place that is another's by now.
        var row: UInt32 = 0
        /// In the list of the store, and in that of the chain.
        var links = InlineArray<2, Links>(repeating: Links())
    }

    private struct Ends: Sendable {
        var oldest: Int32 = -1
        var newest: Int32 = -1
    }

    private struct ChainNode: Sendable {
        var chain: Chain?
        var ends = InlineArray<4, Ends>(repeating: Ends())
        var count: Int32 = 0
        /// Only of chains to which clients have come back.
        var returns: Returns?
    }

    /// How long the clients of a chain take, and what follows from it.
    private final class Returns: Sendable {
        let times: ReturnTimes
        let stay: RetentionTimes?

        init(_ times: ReturnTimes, stay: RetentionTimes?) { (self.times, self.stay) = (times, stay) }
    }

    private static let ofStore = 0
    private static let ofChain = 1
    /// How many versions are passed over before a search gives up.
    private static let passedOverMax = 256

    private var nodes = BlockList<Node>()
    private var chains = BlockList<ChainNode>()
    private var freeChains: [Int32] = []
    private var ends = InlineArray<4, Ends>(repeating: Ends())
    /// Of all chains, for those of which little is known.
    private var returns = ReturnTimes()
    private var times: RetentionTimes?
    /// The place of the chain that the next sweep begins with.
    private var swept = 0
    private(set) var counts = InlineArray<4, Int>(repeating: 0)

    /// The number of versions in it.
    var count: Int { counts[0] + counts[1] + counts[2] + counts[3] }

    /// The number of versions of a chain.
    func count(of chain: Chain) -> Int { place(of: chain).map { Int(chains[Int($0)].count) } ?? 0 }

    /// The standing of a version; nil where it is not here.
    func standing(of version: Version) -> Standing? { place(of: version).map { nodes[Int($0)].standing } }

    // MARK: Changes

    /// Adds a version as the one of its standing that is to go last; one that is here already moves.
    mutating func insert(_ version: Version, _ standing: Standing, of chain: Chain) {
        remove(version)
        insert(version.place, row: version.id, standing, of: chain)
    }

    private mutating func insert(_ place: Int32, row: Int64, _ standing: Standing, of chain: Chain) {
        let chainPlace = self.place(of: chain) ?? add(chain)
        while nodes.count <= Int(place) { nodes.append(Node()) }
        nodes[Int(place)] = Node(standing: standing, chain: chainPlace, row: Self.part(of: row))
        chains[Int(chainPlace)].count += 1
        link(place)
    }

    /// Lets a version go last among those of its standing, which may be another than before.
    mutating func renew(_ version: Version, _ standing: Standing) {
        guard let place = place(of: version) else { return }
        unlink(place)
        nodes[Int(place)].standing = standing
        link(place)
    }

    /// Takes a version out; false if it is not here.
    @discardableResult
    mutating func remove(_ version: Version) -> Bool {
        guard let place = place(of: version) else { return false }
        unlink(place)
        let chain = nodes[Int(place)].chain
        nodes[Int(place)] = Node()
        chains[Int(chain)].count -= 1
        if chains[Int(chain)].count == 0 {
            chains[Int(chain)] = ChainNode()
            freeChains.append(chain)
        }
        return true
    }

    /// Counts a client that has come back with a version after some seconds.
    mutating func noteReturn(to version: Version, after seconds: Int) {
        guard let place = place(of: version) else { return }
        let chain = Int(nodes[Int(place)].chain)
        var ofChain = chains[chain].returns?.times ?? ReturnTimes()
        ofChain.note(seconds: seconds)
        // The quantiles are looked up now and then: they move slowly.
        let stay = ofChain.count % 16 == 0 ? RetentionTimes(ofChain) : chains[chain].returns?.stay
        chains[chain].returns = Returns(ofChain, stay: stay)
        returns.note(seconds: seconds)
        if returns.count % 16 == 0 { times = RetentionTimes(returns) }
    }

    /// For how long the versions of a chain stay.
    func times(of chain: Chain) -> RetentionTimes { place(of: chain).map(timesOfPlace) ?? times ?? .unknown }

    private func timesOfPlace(_ chain: Int32) -> RetentionTimes {
        chains[Int(chain)].returns?.stay ?? times ?? .unknown
    }

    // MARK: Who goes

    /// The version that goes first, of a chain or of the whole store, of those that may; nil where none is found.
    mutating func first(
        of chain: Chain? = nil, in index: DictionaryIndex, where mayGo: (Version) -> Bool
    ) -> Version? {
        for standing in Standing.allCases {
            if let version = first(standing, of: chain, in: index, where: mayGo) { return version }
        }
        return nil
    }

    private mutating func first(
        _ standing: Standing, of chain: Chain?, in index: DictionaryIndex, where mayGo: (Version) -> Bool
    ) -> Version? {
        let chainPlace = chain.flatMap { place(of: $0) }
        if chain != nil, chainPlace == nil { return nil }
        let list = chainPlace == nil ? Self.ofStore : Self.ofChain
        let oldest = (chainPlace.map { chains[Int($0)].ends } ?? ends)[standing.rawValue].oldest
        var next = oldest
        for _ in 0..<Self.passedOverMax {
            guard next >= 0 else { return nil }
            let version = index.version(at: next)
            if mayGo(version) { return version }
            next = nodes[Int(next)].links[list].newer
        }
        // The next search begins with others.
        next = oldest
        for _ in 0..<Self.passedOverMax {
            let place = next
            next = nodes[Int(place)].links[list].newer
            unlink(place)
            link(place)
        }
        return nil
    }

    /// Versions of some chains that nobody seems to hold any more; the next call goes on with the next chains.
    ///
    /// - Returns: at most so many versions, and whether every one of these chains was looked at to its end.
    mutating func overdue(
        now: Int, in index: DictionaryIndex, chains chainsMax: Int, versions versionsMax: Int
    ) -> [(Version, Standing)] {
        var overdue: [(Version, Standing)] = []
        for _ in 0..<min(chainsMax, chains.count) {
            if swept >= chains.count { swept = 0 }
            appendOverdue(of: Int32(swept), now: now, in: index, max: versionsMax, to: &overdue)
            guard overdue.count < versionsMax else { break }
            swept += 1
        }
        return overdue
    }

    private func appendOverdue(
        of chain: Int32, now: Int, in index: DictionaryIndex, max versionsMax: Int,
        to overdue: inout [(Version, Standing)]
    ) {
        let times = timesOfPlace(chain)
        for standing in Standing.allCases {
            var place = chains[Int(chain)].ends[standing.rawValue].oldest
            while place >= 0, overdue.count < versionsMax {
                guard index.lastContact(at: place) + times[standing] < now else { break }
                let version = index.version(at: place)
                if !version.isPinned(at: now) { overdue.append((version, standing)) }
                place = nodes[Int(place)].links[Self.ofChain].newer
            }
        }
    }

    // MARK: Places

    private func place(of version: Version) -> Int32? {
        let place = Int(version.place)
        guard nodes.indices.contains(place), nodes[place].chain >= 0,
            nodes[place].row == Self.part(of: version.id)
        else { return nil }
        return Int32(place)
    }

    private static func part(of row: Int64) -> UInt32 { UInt32(truncatingIfNeeded: row ^ (row >> 32)) }

    private func place(of chain: Chain) -> Int32? {
        let place = chain.retentionPlace
        return chains.indices.contains(place) && chains[place].chain === chain ? Int32(place) : nil
    }

    private mutating func add(_ chain: Chain) -> Int32 {
        let place = freeChains.popLast() ?? Int32(chains.count)
        if place == chains.count { chains.append(ChainNode()) }
        chains[Int(place)].chain = chain
        chain.retentionPlace = Int(place)
        return place
    }

    // MARK: Chains

    /// The versions of a chain, in no order; linear in them.
    func versions(of chain: Chain, in index: DictionaryIndex) -> [Version] {
        guard let chain = place(of: chain) else { return [] }
        return Standing.allCases.flatMap { standing in
            var versions: [Version] = []
            var place = chains[Int(chain)].ends[standing.rawValue].oldest
            while place >= 0 {
                versions.append(index.version(at: place))
                place = nodes[Int(place)].links[Self.ofChain].newer
            }
            return versions
        }
    }

    /// Puts all versions into the order of their last contacts, as those are where rows were read in another.
    mutating func sort(in index: DictionaryIndex) {
        var order: [UInt64] = []
        order.reserveCapacity(nodes.count)
        for place in nodes.indices where nodes[place].chain >= 0 {
            order.append(UInt64(UInt32(clamping: index.lastContact(at: Int32(place)))) << 32 | UInt64(place))
        }
        order.sort()
        for entry in order {
            let place = Int32(truncatingIfNeeded: entry)
            unlink(place)
            link(place)
        }
    }

    // MARK: Lists

    private mutating func link(_ place: Int32) {
        let (standing, chain) = (nodes[Int(place)].standing.rawValue, Int(nodes[Int(place)].chain))
        counts[standing] += 1
        var storeEnds = ends[standing]
        append(place, Self.ofStore, &storeEnds)
        ends[standing] = storeEnds
        var chainEnds = chains[chain].ends[standing]
        append(place, Self.ofChain, &chainEnds)
        chains[chain].ends[standing] = chainEnds
    }

    private mutating func unlink(_ place: Int32) {
        let (standing, chain) = (nodes[Int(place)].standing.rawValue, Int(nodes[Int(place)].chain))
        counts[standing] -= 1
        var storeEnds = ends[standing]
        takeOut(place, Self.ofStore, &storeEnds)
        ends[standing] = storeEnds
        var chainEnds = chains[chain].ends[standing]
        takeOut(place, Self.ofChain, &chainEnds)
        chains[chain].ends[standing] = chainEnds
    }

    private mutating func append(_ place: Int32, _ list: Int, _ ends: inout Ends) {
        nodes[Int(place)].links[list] = Links(older: ends.newest)
        if ends.newest >= 0 { nodes[Int(ends.newest)].links[list].newer = place }
        if ends.oldest < 0 { ends.oldest = place }
        ends.newest = place
    }

    private mutating func takeOut(_ place: Int32, _ list: Int, _ ends: inout Ends) {
        let links = nodes[Int(place)].links[list]
        if links.older >= 0 {
            nodes[Int(links.older)].links[list].newer = links.newer
        } else {
            ends.oldest = links.newer
        }
        if links.newer >= 0 {
            nodes[Int(links.newer)].links[list].older = links.older
        } else {
            ends.newest = links.older
        }
    }
}
