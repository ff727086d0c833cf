internal import Dictionaries

/// The private versions in the order of eviction, for when their budget is exceeded.
///
/// Clients can invent logins. So the versions of one client network (an IPv4 address or an IPv6 /48) displace
/// each other: the oldest version of the networks with the most bytes goes first. Versions to which no client
/// has come back go before the others, down to a sixteenth of the budget, so that a newcomer has time to come
/// back. Every version stores its node's number, so the order cannot be copied.
struct PrivateOrder: ~Copyable, Sendable {
    /// The class of a version by its holders; the first class goes first.
    private enum Class: Int, CaseIterable {
        /// No client has come back for it.
        case newcomer
        /// Its holders have been offered other versions.
        case spent
        case held
    }

    private struct Node: LinkedList.Element {
        /// The version's place in the index, and its `rowPart`: another version may have the place by now.
        var version: Int32 = -1
        var row: UInt32 = 0
        var links = LinkedList.Links()
        var list: Int32 = -1
        var bytes: Int32 = 0
        /// The bytes of its promised ids, which are part of these.
        var promised: Int32 = 0
        /// The time at which it was linked, in seconds since 1970.
        var since: UInt32 = 0

        subscript(_: Int) -> LinkedList.Links {
            get { links }
            set { links = newValue }
        }
    }

    /// The versions of one network and one class.
    private struct List: Sendable {
        var order = LinkedList()
        var bytes = 0
    }

    /// The number of networks that are told apart.
    ///
    /// Some share a number, which a client cannot choose.
    static let networkCount = 1024
    /// The divisor of the budget that gives the newcomers' share.
    private static let newcomersShare = 16

    private var nodes = BlockList<Node>()
    private var freePlaces: [Int32] = []
    private var lists = [List](repeating: List(), count: Class.allCases.count * networkCount)
    private var classBytes = InlineArray<3, Int>(repeating: 0)

    var bytes: Int { classBytes[0] + classBytes[1] + classBytes[2] }

    // MARK: Changes

    /// Adds a version as the last of its network and class to go; moves one that is here already.
    mutating func insert(_ version: Version) {
        remove(version)
        let place = freePlaces.popLast() ?? Int32(nodes.count)
        if place == nodes.count { nodes.append(Node()) }
        nodes[Int(place)].version = version.place
        nodes[Int(place)].row = version.rowPart
        version.privatePlace = place
        link(place, version)
    }

    /// Makes a version the last of its network to go, after its holders or its size have changed.
    mutating func renew(_ version: Version) {
        guard let place = place(of: version) else { return }
        unlink(place)
        link(place, version)
    }

    /// Updates the size of a version and leaves its place in the order.
    mutating func resize(_ version: Version) {
        guard let place = place(of: version) else { return }
        let bytes = bytes(of: version, Int(place))
        let (list, growth) = (Int(nodes[Int(place)].list), bytes - Int(nodes[Int(place)].bytes))
        nodes[Int(place)].bytes = Int32(bytes)
        lists[list].bytes += growth
        classBytes[list / Self.networkCount] += growth
    }

    /// Counts bytes of promised ids that came or went.
    mutating func grow(_ version: Version, bytes: Int) {
        guard bytes != 0, let place = place(of: version) else { return }
        nodes[Int(place)].promised += Int32(clamping: bytes)
        resize(version)
    }

    mutating func remove(_ version: Version) {
        guard let place = place(of: version) else { return }
        unlink(place)
        nodes[Int(place)] = Node()
        freePlaces.append(place)
    }

    /// Returns the version that goes first; nil if there is none.
    func first(in index: DictionaryIndex) -> Version? {
        let areManyNewcomers = classBytes[Class.newcomer.rawValue] > bytes / Self.newcomersShare
        let order: [Class] = areManyNewcomers ? Class.allCases : [.spent, .held, .newcomer]
        for kind in order where classBytes[kind.rawValue] > 0 {
            if let place = first(of: kind) { return index.version(at: nodes[place].version) }
        }
        return nil
    }

    /// Returns the oldest version of the networks that have the most bytes of a class, within a factor of
    /// two.
    private func first(of kind: Class) -> Int? {
        let ofKind = lists[kind.rawValue * Self.networkCount..<(kind.rawValue + 1) * Self.networkCount]
        let most = ofKind.reduce(0) { max($0, $1.bytes) }
        var first: Int?
        for list in ofKind where list.order.oldest >= 0 && 2 * list.bytes > most {
            let place = Int(list.order.oldest)
            if first.map({ nodes[place].since < nodes[$0].since }) ?? true { first = place }
        }
        return first
    }

    /// Sorts all versions by their last contacts, after rows were read in another order.
    mutating func sort() {
        let linked = nodes.indices.filter { nodes[$0].list >= 0 }.sorted {
            (nodes[$0].since, $0) < (nodes[$1].since, $1)
        }
        for list in lists.indices { lists[list].order = LinkedList() }
        for place in linked { lists[Int(nodes[place].list)].order.append(Int32(place), of: &nodes) }
    }

    // MARK: Lists

    private func place(of version: Version) -> Int32? {
        let place = version.privatePlace
        guard nodes.indices.contains(Int(place)), nodes[Int(place)].version == version.place,
            nodes[Int(place)].row == version.rowPart
        else { return nil }
        return place
    }

    private func bytes(of version: Version, _ place: Int) -> Int {
        min(version.privateBytes + Int(nodes[place].promised), Int(Int32.max))
    }

    private static func kind(_ version: Version) -> Class {
        if version.holders == 0 { return .spent }
        return version.hasReturned ? .held : .newcomer
    }

    private mutating func link(_ place: Int32, _ version: Version) {
        let kind = Self.kind(version)
        let list = kind.rawValue * Self.networkCount + Int(version.network) % Self.networkCount
        let bytes = bytes(of: version, Int(place))
        nodes[Int(place)].list = Int32(list)
        nodes[Int(place)].bytes = Int32(bytes)
        nodes[Int(place)].since = UInt32(clamping: version.lastContact)
        lists[list].order.append(place, of: &nodes)
        lists[list].bytes += bytes
        classBytes[kind.rawValue] += bytes
    }

    private mutating func unlink(_ place: Int32) {
        let (list, bytes) = (Int(nodes[Int(place)].list), Int(nodes[Int(place)].bytes))
        lists[list].order.remove(place, of: &nodes)
        lists[list].bytes -= bytes
        classBytes[list / Self.networkCount] -= bytes
    }
}
