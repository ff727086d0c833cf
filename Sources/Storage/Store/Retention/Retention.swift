internal import Dictionaries

/// The versions of a store in the order in which they are evicted; `StoreState.firstToGo` decides when this order counts.
///
/// Each version has a standing. Within a standing, the version goes first that was neither offered nor
/// advertised for the longest time; there is one such order for the store and one per chain. Every step is
/// O(1). Nodes are indexed like the versions of `DictionaryIndex`, and chains store their index into this structure,
/// so it must not be copied.
struct Retention: ~Copyable, Sendable {
    /// The standing of a version by the clients that hold it; the first standing goes first.
    enum Standing: Int, CaseIterable, Sendable {
        /// It was offered to clients without a version of the chain, and none of them has come back.
        case newcomer
        /// Its only holder has been offered another version.
        case unheld
        /// It had several holders, and others were offered in its place as often.
        case spent
        /// Clients that have come back hold it.
        case held

        /// The label in metrics.
        var name: String { "\(self)" }
    }

    private struct Node: LinkedList.Element {
        var standing = Standing.newcomer
        /// The place of the chain; -1 in a node without a version.
        var chain: Int32 = -1
        /// `Version.rowPart`: the object of a removed version may name a place that another version has by now.
        var row: UInt32 = 0
        /// The neighbours in the list of the store, and in that of the chain.
        var links = InlineArray<2, LinkedList.Links>(repeating: LinkedList.Links())

        subscript(list: Int) -> LinkedList.Links {
            get { links[list] }
            set { links[list] = newValue }
        }
    }

    private struct ChainNode: Sendable {
        var chain: Chain?
        var lists = InlineArray<4, LinkedList>(repeating: LinkedList())
        var count: Int32 = 0
        /// The return times; nil for chains to which no client has come back.
        var returns: Returns?
    }

    /// The return times of a chain's clients, and the times to stay that follow from them.
    private final class Returns: Sendable {
        let times: ReturnTimes
        let stay: RetentionTimes?

        init(_ times: ReturnTimes, stay: RetentionTimes?) { (self.times, self.stay) = (times, stay) }
    }

    /// The numbers of the lists that a version is in.
    private static let ofStore = 0
    private static let ofChain = 1
    /// The number of versions that a search examines before it gives up.
    private static let passedOverMax = 256

    private var nodes = BlockList<Node>()
    private var chains = BlockList<ChainNode>()
    private var freeChains: [Int32] = []
    private var lists = InlineArray<4, LinkedList>(repeating: LinkedList())
    /// The return times of all chains, for chains without enough of their own.
    private var returns = ReturnTimes()
    private var times: RetentionTimes?
    /// The place of the chain that the next sweep begins with.
    private var swept = 0
    private(set) var counts = InlineArray<4, Int>(repeating: 0)

    var count: Int { counts[0] + counts[1] + counts[2] + counts[3] }

    func count(of chain: Chain) -> Int { place(of: chain).map { Int(chains[Int($0)].count) } ?? 0 }

    /// Returns the standing of a version; nil if it is not here.
    func standing(of version: Version) -> Standing? { place(of: version).map { nodes[Int($0)].standing } }

    // MARK: Changes

    /// Adds a version as the last of its standing to go; moves one that is here already.
    mutating func insert(_ version: Version, _ standing: Standing, of chain: Chain) {
        remove(version)
        let place = version.place
        let chainPlace = self.place(of: chain) ?? add(chain)
        while nodes.count <= Int(place) { nodes.append(Node()) }
        nodes[Int(place)] = Node(standing: standing, chain: chainPlace, row: version.rowPart)
        chains[Int(chainPlace)].count += 1
        link(place)
    }

    /// Makes a version the last of its standing to go; the standing may be a new one.
    mutating func renew(_ version: Version, _ standing: Standing) {
        guard let place = place(of: version) else { return }
        unlink(place)
        nodes[Int(place)].standing = standing
        link(place)
    }

    /// Removes a version; returns false if it is not here.
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
    mutating func countReturn(to version: Version, after seconds: Int) {
        guard let place = place(of: version) else { return }
        let chain = Int(nodes[Int(place)].chain)
        var ofChain = chains[chain].returns?.times ?? ReturnTimes()
        ofChain.add(seconds: seconds)
        // The quantiles move slowly, so recompute them now and then.
        let stay = ofChain.count % 16 == 0 ? RetentionTimes(ofChain) : chains[chain].returns?.stay
        chains[chain].returns = Returns(ofChain, stay: stay)
        returns.add(seconds: seconds)
        if returns.count % 16 == 0 { times = RetentionTimes(returns) }
    }

    // MARK: Eviction

    /// Returns the first version to go, of a chain or of the whole store, that `mayGo` accepts; nil if none
    /// is found.
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
        let oldest = (chainPlace.map { chains[Int($0)].lists } ?? lists)[standing.rawValue].oldest
        var next = oldest
        for _ in 0..<Self.passedOverMax {
            guard next >= 0 else { return nil }
            let version = index.version(at: next)
            if mayGo(version) { return version }
            next = nodes[Int(next)][list].newer
        }
        // Let the next search begin with others.
        next = oldest
        for _ in 0..<Self.passedOverMax {
            let place = next
            next = nodes[Int(place)][list].newer
            unlink(place)
            link(place)
        }
        return nil
    }

    /// Returns versions of some chains that seem to have no holder any more; the next call continues with the
    /// next chains.
    ///
    /// - Returns: At most `versionsMax` versions with their standings.
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
        let times = chains[Int(chain)].returns?.stay ?? self.times ?? RetentionTimes.unknown
        for standing in Standing.allCases {
            var place = chains[Int(chain)].lists[standing.rawValue].oldest
            while place >= 0, overdue.count < versionsMax {
                guard index.lastContact(at: place) + times[standing] < now else { break }
                let version = index.version(at: place)
                if !version.isPinned(at: now) { overdue.append((version, standing)) }
                place = nodes[Int(place)][Self.ofChain].newer
            }
        }
    }

    // MARK: Places

    private func place(of version: Version) -> Int32? {
        let place = Int(version.place)
        guard nodes.indices.contains(place), nodes[place].chain >= 0,
            nodes[place].row == version.rowPart
        else { return nil }
        return Int32(place)
    }

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

    /// Returns the versions of a chain, in no order; linear in their number.
    func versions(of chain: Chain, in index: DictionaryIndex) -> [Version] {
        places(of: chain, max: .max).map { index.version(at: $0) }
    }

    /// Returns the places of at most so many versions of a chain, of each standing those with the latest contacts.
    func places(of chain: Chain, max countMax: Int) -> [Int32] {
        guard let chain = place(of: chain) else { return [] }
        var places: [Int32] = []
        for standing in Standing.allCases.reversed() {
            var place = chains[Int(chain)].lists[standing.rawValue].newest
            while place >= 0, places.count < countMax {
                places.append(place)
                place = nodes[Int(place)][Self.ofChain].older
            }
        }
        return places
    }

    /// Sorts all versions by their last contacts, after rows were read in another order.
    mutating func sort(in index: DictionaryIndex) {
        var order: [UInt64] = []
        order.reserveCapacity(nodes.count)
        for place in nodes.indices where nodes[place].chain >= 0 {
            order.append(UInt64(UInt32(clamping: index.lastContact(at: Int32(place)))) << 32 | UInt64(place))
        }
        order.sort()
        counts = InlineArray(repeating: 0)
        lists = InlineArray(repeating: LinkedList())
        for chain in chains.indices { chains[chain].lists = InlineArray(repeating: LinkedList()) }
        for entry in order { link(Int32(truncatingIfNeeded: entry)) }
    }

    // MARK: Lists

    private mutating func link(_ place: Int32) {
        let (standing, chain) = (nodes[Int(place)].standing.rawValue, Int(nodes[Int(place)].chain))
        counts[standing] += 1
        lists[standing].append(place, of: &nodes, list: Self.ofStore)
        chains[chain].lists[standing].append(place, of: &nodes, list: Self.ofChain)
    }

    private mutating func unlink(_ place: Int32) {
        let (standing, chain) = (nodes[Int(place)].standing.rawValue, Int(nodes[Int(place)].chain))
        counts[standing] -= 1
        lists[standing].remove(place, of: &nodes, list: Self.ofStore)
        chains[chain].lists[standing].remove(place, of: &nodes, list: Self.ofChain)
    }
}
