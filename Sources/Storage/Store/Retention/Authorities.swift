/// The authorities that have chains; clients can invent Host fields.
///
/// An authority is proven once a client has come back with a version of one of its chains. While none is
/// proven, all are alike. A value; every operation is O(1).
struct Authorities: Sendable {
    private struct Record: Sendable {
        var chains = 0
        /// The private chains, which do not count in the limit.
        var privateChains = 0
        var bytes = 0
        var isProven = false

        var isEmpty: Bool { chains + privateChains <= 0 }

        mutating func add(chains: Int, bytes: Int, isPrivate: Bool) {
            if isPrivate { privateChains += chains } else { self.chains += chains }
            self.bytes += bytes
        }
    }

    private var records: [String: Record] = [:]
    private var provenCount = 0
    /// The chains and bytes of all unproven authorities.
    private(set) var unprovenChains = 0
    private(set) var unprovenBytes = 0

    /// True if any authority is proven.
    var hasProven: Bool { provenCount > 0 }

    /// True if a client has come back to the authority.
    func isProven(_ authority: String) -> Bool { records[authority]?.isProven == true }

    /// Records that a client has come back to the authority.
    mutating func prove(_ authority: String) {
        guard let record = records[authority], !record.isProven else { return }
        records[authority]?.isProven = true
        provenCount += 1
        unprovenChains -= record.chains
        unprovenBytes -= record.bytes
    }

    /// Counts chains and bytes that came or went; an authority without chains is forgotten.
    ///
    /// Private chains only keep it known: they have a budget of their own.
    mutating func count(_ authority: String, chains: Int, bytes: Int, isPrivate: Bool = false) {
        var record = Record()
        if let place = records.index(forKey: authority) {
            record = records.values[place]
            record.add(chains: chains, bytes: bytes, isPrivate: isPrivate)
            if record.isEmpty { records.remove(at: place) } else { records.values[place] = record }
        } else {
            record.add(chains: chains, bytes: bytes, isPrivate: isPrivate)
            if !record.isEmpty { records[authority] = record }
        }
        let isLeft = !record.isEmpty
        if !record.isProven {
            unprovenChains += isPrivate ? 0 : chains
            unprovenBytes += bytes
        } else if !isLeft {
            provenCount -= 1
        }
    }
}
