internal import Primitives

/// The processor time that work beside the traffic may take: a share of one core on average; a value.
struct ProcessorAllowance: Sendable {
    var cpuShare: Double
    /// The time whose allowance is kept while nothing is done.
    private let keptNanoseconds: Int64
    private var bucket = TokenBucket()

    init(cpuShare: Double, keptNanoseconds: Int64 = 0) {
        (self.cpuShare, self.keptNanoseconds) = (cpuShare, keptNanoseconds)
    }

    private var shape: TokenBucket.Shape {
        TokenBucket.Shape(interval: 1 / cpuShare, burst: Double(keptNanoseconds) * cpuShare)
    }

    /// Records processor time, if necessary as a debt.
    mutating func charge(_ nanoseconds: Int64, now: Int64) {
        bucket.owe(Int(nanoseconds), at: shape, now: now)
    }

    /// Returns true if there is no debt.
    func hasPlenty(now: Int64) -> Bool { bucket.missing(now) <= keptNanoseconds }

    /// Returns true if the debt is paid off in less than this time.
    func owes(lessThan nanoseconds: Int64, now: Int64) -> Bool {
        bucket.missing(now) < keptNanoseconds + nanoseconds
    }
}
