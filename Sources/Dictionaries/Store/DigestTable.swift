internal import HashTreeCollections

/// The versions by their digests: one table for the writer and for all readers, who find each change at once.
///
/// A digest may be anywhere in it. In a tree whose copies share their nodes, as the chains have, each admission among
/// 100,000 versions retained and released some 100 objects that were in no cache, which took 10 µs of 85; here it
/// touches two places. In parts with a lock each, held for one step: a reader hardly ever meets the writer.
final class DigestTable: Sendable {
    private struct Key: Hashable {
        let authority: String
        let digest: Digest
    }

    /// The versions with one digest: hardly ever more than one.
    private enum Holders {
        case one(Version)
        case many(TreeDictionary<Int64, Version>)
    }

    private typealias Part = Guarded<[Key: Holders]>

    private static let partCount = 64

    private let parts = (0..<partCount).map { _ in Part([:]) }

    /// The first version of the authority with this digest that the closure takes; it is asked of `limit` at most.
    ///
    /// From any thread; the closure runs outside the lock.
    func first(
        digest: Digest, authority: String, limit: Int, where isUsable: (Version) -> Bool
    ) -> Version? {
        let key = Key(authority: authority, digest: digest)
        switch part(of: key).withLock({ $0[key] }) {
        case nil: return nil
        case .one(let version): return isUsable(version) ? version : nil
        case .many(let versions): return versions.prefix(limit).first { isUsable($0.value) }?.value
        }
    }

    /// Takes a version in; it replaces the one of its row, so that no reader finds neither.
    func insert(_ version: Version) {
        let key = key(of: version)
        part(of: key).withLock { holders in
            switch holders[key] {
            case nil: holders[key] = .one(version)
            case .one(let other) where other.id == version.id: holders[key] = .one(version)
            case .one(let other): holders[key] = .many([other.id: other, version.id: version])
            case .many(var others):
                others[version.id] = version
                holders[key] = .many(others)
            }
        }
    }

    /// Lets exactly this object go, if it is there.
    func remove(_ version: Version) {
        let key = key(of: version)
        part(of: key).withLock { holders in
            switch holders[key] {
            case nil: break
            case .one(let other): if other === version { holders[key] = nil }
            case .many(var others):
                guard others[version.id] === version else { return }
                others[version.id] = nil
                holders[key] = others.isEmpty ? nil : .many(others)
            }
        }
    }

    private func key(of version: Version) -> Key {
        Key(authority: version.chain.authority, digest: version.digest)
    }

    private func part(of key: Key) -> Part {
        parts[Int(truncatingIfNeeded: key.digest.part) & (Self.partCount - 1)]
    }
}
