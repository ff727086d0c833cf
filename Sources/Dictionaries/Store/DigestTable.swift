internal import HashTreeCollections

/// The versions by their digests.
///
/// By a part of them, since a key that is short leaves more of the table in the processor's cache; what is found is
/// compared whole.
final class DigestTable: Sendable {
    /// The versions with one digest: hardly ever more than one.
    private enum Holders {
        case one(Version)
        case many(Group)
    }

    /// The versions with one digest where there are several.
    private struct Group {
        /// The one that has been here the longest, or any if that went: it is the most likely to be on disk.
        private(set) var first: Version
        /// By authority and row.
        private(set) var all: [String: TreeDictionary<Int64, Version>]

        init(_ first: Version) {
            self.first = first
            all = [first.chain.authority: [first.id: first]]
        }

        /// The group with one more.
        consuming func inserting(_ version: Version) -> Group {
            if version.id == first.id { first = version }
            all[version.chain.authority, default: [:]][version.id] = version
            return self
        }

        /// The group without exactly this object, if it is there; nil if nothing is left.
        consuming func removing(_ version: Version) -> Group? {
            let authority = version.chain.authority
            guard all[authority]?[version.id] === version else { return self }
            all[authority]?[version.id] = nil
            if all[authority]?.isEmpty == true { all[authority] = nil }
            guard first === version else { return self }
            guard let next = all.values.first?.values.first else { return nil }
            first = next
            return self
        }
    }

    /// How many twins are named: one that is on disk is likely to be among them.
    private static let twinsMax = 8

    private let holders = StripedTable<UInt64, Holders>()

    /// The first version of the authority with this digest that the closure takes; it is asked of `limit` at most.
    ///
    /// From any thread; the closure runs outside the lock.
    func first(
        digest: Digest, authority: String, limit: Int, where isUsable: (Version) -> Bool
    ) -> Version? {
        switch holders[digest.part] {
        case nil: nil
        case .one(let version):
            version.digest == digest && version.chain.authority == authority && isUsable(version)
                ? version : nil
        case .many(let group):
            group.all[authority]?.prefix(limit).first { $0.value.digest == digest && isUsable($0.value) }?
                .value
        }
    }

    /// The rows of other versions, some of them, that have the same body and are nobody's own: they share it on disk.
    func twins(of version: Version) -> [Int64] {
        guard !version.chain.scope.isPrivate else { return [] }
        func isTwin(_ other: Version) -> Bool {
            other.id != version.id && other.digest == version.digest && !other.chain.scope.isPrivate
        }
        switch holders[version.digest.part] {
        case nil: return []
        case .one(let other): return isTwin(other) ? [other.id] : []
        case .many(let group):
            let others = group.all.values.lazy.flatMap(\.values).filter { isTwin($0) && $0 !== group.first }
            return ([group.first].filter(isTwin) + others.prefix(Self.twinsMax)).map(\.id)
        }
    }

    /// Takes a version in; it replaces the one of its row, so that no reader finds neither.
    func insert(_ version: Version) {
        holders.change(version.digest.part) { holders in
            // Taken out, or a group would be copied as it changes.
            switch holders.take() {
            case .one(let other) where other.id != version.id:
                holders = .many(Group(other).inserting(version))
            case .many(let group): holders = .many(group.inserting(version))
            default: holders = .one(version)
            }
        }
    }

    /// Lets exactly this object go, if it is there.
    func remove(_ version: Version) {
        holders.change(version.digest.part) { holders in
            switch holders.take() {
            case .one(let other) where other !== version: holders = .one(other)
            case .many(let group): holders = group.removing(version).map(Holders.many)
            default: break
            }
        }
    }
}
