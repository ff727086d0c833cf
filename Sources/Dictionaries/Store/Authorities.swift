/// What is known of the authorities that have chains: a Host is free to make up.
///
/// An authority is proven once a client has come back with a version of one of its chains. As long as none is, all are
/// alike. A value, O(1) in everything.
struct Authorities: Sendable {
    private struct Record: Sendable {
        var chains = 0
        var bytes = 0
        var isProven = false
    }

    private var records: [String: Record] = [:]
    private var provenCount = 0
    /// What those that are not proven have together.
    private(set) var unprovenChains = 0
    private(set) var unprovenBytes = 0

    /// Whether any is proven.
    var hasProven: Bool { provenCount > 0 }

    /// Whether a client has come back to it.
    func isProven(_ authority: String) -> Bool { records[authority]?.isProven == true }

    /// Notes that a client has come back to it.
    mutating func prove(_ authority: String) {
        guard let record = records[authority], !record.isProven else { return }
        records[authority]?.isProven = true
        provenCount += 1
        unprovenChains -= record.chains
        unprovenBytes -= record.bytes
    }

    /// Counts chains and bytes that came or went; without chains it is forgotten.
    mutating func count(_ authority: String, chains: Int, bytes: Int) {
        var record = records[authority] ?? Record()
        record.chains += chains
        record.bytes += bytes
        records[authority] = record.chains > 0 ? record : nil
        if !record.isProven {
            unprovenChains += chains
            unprovenBytes += bytes
        } else if record.chains == 0 {
            provenCount -= 1
        }
    }
}
