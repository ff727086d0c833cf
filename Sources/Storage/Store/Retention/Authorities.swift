/// The authorities that have chains; clients can invent Host fields.
///
/// They differ by whether a client has come back with a version of one of their chains. While none has to any, all are
/// alike. A value; every operation is O(1).
struct Authorities: Sendable {
    private struct Record: Sendable {
        var chains = 0
        /// The private chains, which do not count in the limit.
        var privateChains = 0
        var bytes = 0
        var hasReturned = false

        var isEmpty: Bool { chains + privateChains <= 0 }

        mutating func add(chains: Int, bytes: Int, isSealed: Bool) {
            if isSealed { privateChains += chains } else { self.chains += chains }
            self.bytes += bytes
        }
    }

    private var records: [String: Record] = [:]
    private var returnedCount = 0
    /// The chains and bytes of all authorities without a returned client.
    private(set) var chainsWithoutReturn = 0
    private(set) var bytesWithoutReturn = 0

    /// True if a client has come back to any authority.
    var hasReturns: Bool { returnedCount > 0 }

    func hasReturned(_ authority: String) -> Bool { records[authority]?.hasReturned == true }

    mutating func noteReturn(_ authority: String) {
        guard let record = records[authority], !record.hasReturned else { return }
        records[authority]?.hasReturned = true
        returnedCount += 1
        chainsWithoutReturn -= record.chains
        bytesWithoutReturn -= record.bytes
    }

    /// Counts chains and bytes that came or went; an authority without chains is forgotten.
    ///
    /// Private chains only keep it known: they have a budget of their own.
    mutating func count(_ authority: String, chains: Int, bytes: Int, isSealed: Bool = false) {
        var record = Record()
        if let place = records.index(forKey: authority) {
            record = records.values[place]
            record.add(chains: chains, bytes: bytes, isSealed: isSealed)
            if record.isEmpty { records.remove(at: place) } else { records.values[place] = record }
        } else {
            record.add(chains: chains, bytes: bytes, isSealed: isSealed)
            if !record.isEmpty { records[authority] = record }
        }
        let isLeft = !record.isEmpty
        if !record.hasReturned {
            chainsWithoutReturn += isSealed ? 0 : chains
            bytesWithoutReturn += bytes
        } else if !isLeft {
            returnedCount -= 1
        }
    }
}
