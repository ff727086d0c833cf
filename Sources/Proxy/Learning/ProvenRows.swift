internal import Storage

/// The newest proven version of each chain, by its row: what a dictionary is learned from.
struct ProvenRows: Sendable {
    static let countMax = 512

    /// By a seeded hash of the chain.
    private var rows: [Int: Int64] = [:]

    var count: Int { rows.count }

    /// The rows, the newest first.
    var newestFirst: [Int64] { rows.values.sorted(by: >) }

    /// Notes the version that is the newest of its chain; the older half goes if there are too many.
    mutating func note(_ version: Storage.Version) {
        let chain = version.chainKey.hashValue
        if rows[chain] == nil, rows.count >= Self.countMax {
            let newest = rows.sorted { $0.value > $1.value }.prefix(Self.countMax / 2)
            rows = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
        rows[chain] = version.id
    }
}
