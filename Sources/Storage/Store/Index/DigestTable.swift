internal import Dictionaries

/// The versions by their digests: a table of the first version per digest, and groups for digests with several.
struct DigestTable: Sendable {
    /// The versions with one digest, if there are several.
    private struct Group: Sendable {
        /// The places by authority, and then by row.
        var byAuthority: [String: [Int64: Int32]] = [:]
        /// The places by chain, and then by the hash of URL and variant.
        var byChain: [Int32: [UInt64: Int32]] = [:]
    }

    private var firsts = PlaceTable()
    private var groups: [Digest: Group] = [:]

    mutating func reserve(_ count: Int) { firsts.reserve(count) }

    // MARK: Look-ups

    func first(_ digest: Digest, in records: BlockList<VersionRecord>) -> Int32? {
        firsts.first(digest.part) { records[Int($0)].digest == digest }
    }

    /// Returns the version of a group with a chain, a URL and a variant.
    func place(of digest: Digest, chain: Int32, name: UInt64) -> Int32? {
        groups[digest]?.byChain[chain]?[name]
    }

    func places(of digest: Digest, chain: Int32, limit: Int) -> [Int32] {
        groups[digest]?.byChain[chain].map { Array($0.values.prefix(limit)) } ?? []
    }

    /// Returns versions of a group in chains of an authority.
    func places(of digest: Digest, authority: String, limit: Int) -> [Int32] {
        groups[digest]?.byAuthority[authority].map { Array($0.values.prefix(limit)) } ?? []
    }

    /// Returns all versions of a group; linear in their number.
    func places(of digest: Digest) -> some Sequence<Int32> {
        (groups[digest]?.byAuthority ?? [:]).values.lazy.flatMap(\.values)
    }

    // MARK: Changes

    mutating func insert(_ place: Int32, _ digest: Digest) { firsts.insert(place, digest.part) }

    mutating func group(_ place: Int32, _ record: VersionRecord, authority: String) {
        func add(_ group: inout Group) {
            group.byAuthority[authority, default: [:]][record.id] = place
            group.byChain[record.chain, default: [:]][record.name] = place
        }
        add(&groups[record.digest, default: Group()])
    }

    /// Removes a version; `isFirst` tells if it is the first of its digest.
    mutating func remove(_ place: Int32, _ record: VersionRecord, authority: String, isFirst: Bool) {
        let digest = record.digest
        var successor: Int32?
        if record.hasSiblings {
            func take(_ group: inout Group) {
                group.byAuthority[authority]?[record.id] = nil
                if group.byAuthority[authority]?.isEmpty == true { group.byAuthority[authority] = nil }
                if group.byChain[record.chain]?[record.name] == place {
                    group.byChain[record.chain]?[record.name] = nil
                }
                if group.byChain[record.chain]?.isEmpty == true { group.byChain[record.chain] = nil }
                successor = group.byAuthority.values.first?.values.first
            }
            take(&groups[digest, default: Group()])
            if successor == nil { groups[digest] = nil }
        }
        guard isFirst else { return }
        if let successor {
            firsts.replace(place, by: successor, digest.part)
        } else {
            firsts.remove(place, digest.part)
        }
    }

    /// Gives a version of a group another row.
    mutating func rename(_ place: Int32, _ record: VersionRecord, to row: Int64, authority: String) {
        func rename(_ group: inout Group) {
            group.byAuthority[authority]?[record.id] = nil
            group.byAuthority[authority]?[row] = place
        }
        rename(&groups[record.digest, default: Group()])
    }
}

/// The tables of all digests: the versions that need an id besides their digest are in one of their own.
struct DigestTables: Sendable {
    private var plain = DigestTable()
    private var apart = DigestTable()

    subscript(isApart isApart: Bool) -> DigestTable {
        // Access in place: a copy would retain the tables.
        _read { if isApart { yield apart } else { yield plain } }
        _modify { if isApart { yield &apart } else { yield &plain } }
    }
}
