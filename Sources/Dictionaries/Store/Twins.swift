/// The versions of public chains by their bodies, so that those with the same one share its row on disk.
///
/// A hint, found by a part of the digest: whoever uses it looks whether the row of the twin is there and has the whole
/// digest. If none is, the body is on disk once more than it must be, and nothing worse. A value; every operation is
/// O(1), and most bodies, which one version has, take 20 to 40 bytes.
struct Twins: Sendable {
    private var first: [UInt64: Int64] = [:]
    private var others: [UInt64: Set<Int64>] = [:]

    /// How many twins are named: one that is on disk is likely to be among them.
    private static let namedMax = 32

    init() {}

    /// Other versions that have, or hardly ever seem to have, the same body.
    func twins(of version: Version) -> [Int64] {
        guard version.chain.scope == .public, let first = first[version.digest.part] else { return [] }
        let others = others[version.digest.part].map { Array($0.prefix(Self.namedMax)) } ?? []
        return ([first] + others).filter { $0 != version.id }
    }

    /// Notes a version.
    mutating func insert(_ version: Version) {
        guard version.chain.scope == .public else { return }
        let part = version.digest.part
        if first[part] == nil {
            first[part] = version.id
        } else if first[part] != version.id {
            others[part, default: []].insert(version.id)
        }
    }

    /// Forgets a version that went.
    mutating func remove(_ version: Version) {
        guard version.chain.scope == .public else { return }
        let part = version.digest.part
        if first[part] == version.id {
            first[part] = others[part]?.popFirst()
        } else {
            others[part]?.remove(version.id)
        }
        if others[part]?.isEmpty == true { others[part] = nil }
    }
}
