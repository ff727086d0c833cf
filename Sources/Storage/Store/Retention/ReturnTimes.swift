/// A histogram of the seconds after which the clients of a chain come back; its past fades.
///
/// Each bucket spans a power of two. A client that comes back every second leaves 3,600 times as many notes
/// as one that comes every hour. `ofClients` weights each note by its length, so that both count alike, and
/// no client can shorten the times of others by coming back often. A value; every operation is O(1).
struct ReturnTimes: Sendable {
    /// The population of a quantile: returns, or clients.
    enum Weight {
        case ofReturns
        case ofClients
    }

    /// The number of notes from which on quantiles are meaningful.
    static let notesMin = 32
    private static let notesMax = 8192
    private static var bucketCount: Int { 24 }

    private var buckets = InlineArray<24, UInt16>(repeating: 0)
    private(set) var count = 0

    /// Counts one return after a silence of some seconds.
    mutating func add(seconds: Int) {
        let length = UInt(max(0, min(seconds, 1 << 22))) + 1
        buckets[UInt.bitWidth - 1 - length.leadingZeroBitCount] += 1
        count += 1
        if count >= Self.notesMax { fade() }
    }

    private mutating func fade() {
        count = 0
        for bucket in 0..<Self.bucketCount {
            buckets[bucket] /= 2
            count += Int(buckets[bucket])
        }
    }

    /// Returns the seconds within which this share of returns or clients comes back; nil while too little is
    /// known.
    func quantile(permille: Int, _ weight: Weight) -> Int? {
        guard count >= Self.notesMin else { return nil }
        let total = (0..<Self.bucketCount).reduce(0) { $0 + self.weight(of: $1, weight) }
        var wanted = total * permille / 1000
        for bucket in 0..<Self.bucketCount {
            let share = self.weight(of: bucket, weight)
            if wanted <= share, share > 0 {
                // Interpolate linearly within a bucket.
                return (1 << bucket) - 1 + (1 << bucket) * wanted / share
            }
            wanted -= share
        }
        return (1 << Self.bucketCount) - 1
    }

    private func weight(of bucket: Int, _ weight: Weight) -> Int {
        let notes = Int(buckets[bucket])
        return weight == .ofClients ? notes << bucket : notes
    }
}

/// The seconds that the versions of a chain stay without being offered or advertised.
struct RetentionTimes: Sendable, Equatable {
    /// The time for versions whose only holder has been offered another.
    ///
    /// It is never 0, because parallel requests, second tabs and lost responses lead to wrong counts.
    var unheld: Int
    /// The time for versions whose several holders, as far as known, have all been offered another.
    var spent: Int
    /// The time for versions whose holders are silent.
    var held: Int

    /// The times while no client has come back.
    static let unknown = RetentionTimes(unheld: 3600, spent: Version.secondsMax, held: Version.secondsMax)

    subscript(standing: Retention.Standing) -> Int {
        switch standing {
        case .unheld: unheld
        case .spent: spent
        case .newcomer, .held: held
        }
    }
}

extension RetentionTimes {
    /// Derives the times from the return times; nil while too little is known.
    init?(_ returns: ReturnTimes) {
        guard let usual = returns.quantile(permille: 780, .ofReturns),
            let most = returns.quantile(permille: 800, .ofClients),
            let nearlyAll = returns.quantile(permille: 950, .ofClients)
        else { return nil }
        held = max(4 * nearlyAll, 3600)
        unheld = min(max(usual, 60), held)
        spent = min(max(most, unheld), held)
    }
}
