/// Whether requests should go to one address of an upstream, by what became of the last ones and of the checks.
///
/// Pure; times are milliseconds of a clock that only grows.
struct EndpointHealth: Sendable, Equatable {
    /// When an address is passed over, and for how long.
    struct Policy: Sendable, Equatable {
        /// So many failures in a row; 0: requests never have it passed over.
        let failuresMax: Int
        /// For so long at first.
        let backOff: Int64

        /// After trials that failed, too, at most so many times the first back-off.
        static let backOffGrowthMax: Int64 = 8
        /// Checks in a row that differ from what is known, before that changes.
        static let checksToChange = 2
    }

    /// Whether it may be chosen.
    enum Standing: Equatable, Sendable {
        case up
        /// Its back-off is over: one request may try.
        case due
        /// Only where there is nothing better: the less the better.
        case out(badness: Int64)
    }

    /// What has changed, to be told once.
    enum Change: Equatable, Sendable {
        /// Out for so many milliseconds, after so many failures in a row.
        case ejected(milliseconds: Int64, failures: Int)
        case readmitted
        case checkedOut
        case checkedIn
    }

    /// Failures in a row.
    private(set) var failures = 0
    /// How long it is out this time; nil while requests go there.
    private var backOff: Int64?
    private var outUntil: Int64 = 0
    private var isOnTrial = false
    /// Whether the checks have it out.
    private(set) var isCheckedOut = false
    private var isChecked = false
    private var contraryChecks = 0

    /// Whether nothing at all is held against it, so that nobody needs to look here.
    var isSpotless: Bool { failures == 0 && backOff == nil && !isCheckedOut }
    /// Whether it is passed over.
    var isOut: Bool { backOff != nil || isCheckedOut }

    /// Whether it may be chosen now.
    func standing(now: Int64) -> Standing {
        // The checks had it out, and they bring it back.
        if isCheckedOut { return .out(badness: .max) }
        guard backOff != nil else { return .up }
        return now >= outUntil ? .due : .out(badness: outUntil)
    }

    /// Takes the trial that is due; returns whether it still was.
    mutating func beginTrial(now: Int64) -> Bool {
        guard let backOff, standing(now: now) == .due else { return false }
        isOnTrial = true
        // A trial nobody hears of again, as its client has left, is followed by another.
        outUntil = now + backOff
        return true
    }

    /// A request has failed there before its answer began.
    mutating func failed(now: Int64, _ policy: Policy) -> Change? {
        failures += 1
        guard policy.failuresMax > 0 else { return nil }
        if let former = backOff {
            // Those that were under way already say nothing new.
            guard isOnTrial else { return nil }
            isOnTrial = false
            let next = min(former * 2, policy.backOff * Policy.backOffGrowthMax)
            backOff = next
            outUntil = now + next
            return nil
        }
        guard failures >= policy.failuresMax else { return nil }
        backOff = policy.backOff
        outUntil = now + policy.backOff
        return .ejected(milliseconds: policy.backOff, failures: failures)
    }

    /// An answer has begun there.
    mutating func succeeded() -> Change? {
        let wasOut = backOff != nil
        failures = 0
        backOff = nil
        isOnTrial = false
        return wasOut ? .readmitted : nil
    }

    /// A check has come back; the first counts alone.
    mutating func checked(isGood: Bool) -> Change? {
        let isFirst = !isChecked
        isChecked = true
        guard isGood == isCheckedOut else {
            contraryChecks = 0
            return nil
        }
        contraryChecks += 1
        guard isFirst || contraryChecks >= Policy.checksToChange else { return nil }
        contraryChecks = 0
        isCheckedOut = !isGood
        return isGood ? .checkedIn : .checkedOut
    }

    /// There are no checks any more.
    mutating func forgetChecks() {
        isCheckedOut = false
        isChecked = false
        contraryChecks = 0
    }
}
