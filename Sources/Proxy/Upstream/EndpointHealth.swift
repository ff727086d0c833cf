/// The health of one upstream address, from recent requests and health checks.
///
/// Pure. Times are milliseconds of a monotonic clock.
struct EndpointHealth: Sendable, Equatable {
    struct Policy: Sendable, Equatable {
        /// The number of consecutive failures that eject an address; 0 disables ejection.
        let failuresMax: Int
        let backOff: Int64

        /// The greatest back-off, in multiples of the first.
        static let backOffGrowthMax: Int64 = 8
        static let checksToChange = 2
    }

    enum Standing: Equatable, Sendable {
        case up
        /// The back-off is over: one request may try.
        case due
        /// Use it only if nothing better is left, the least bad one first.
        case out(badness: Int64)
    }

    /// A change of state, which is reported once.
    enum Change: Equatable, Sendable {
        /// Ejected for some milliseconds, after consecutive failures.
        case ejected(milliseconds: Int64, failures: Int)
        case readmitted
        case checkedOut
        case checkedIn
    }

    private(set) var failures = 0
    /// The current back-off, or nil while the address is in use.
    private var backOff: Int64?
    private var outUntil: Int64 = 0
    private var isOnTrial = false
    /// True while health checks exclude the address.
    private(set) var isCheckedOut = false
    private var isChecked = false
    private var contraryChecks = 0

    var isSpotless: Bool { failures == 0 && !isCheckedOut }
    var isOut: Bool { backOff != nil || isCheckedOut }

    func standing(now: Int64) -> Standing {
        // Only another check ends this state.
        if isCheckedOut { return .out(badness: .max) }
        guard backOff != nil else { return .up }
        return now >= outUntil ? .due : .out(badness: outUntil)
    }

    /// Starts the trial that is due; returns false if another request has started it.
    mutating func beginTrial(now: Int64) -> Bool {
        guard let backOff, standing(now: now) == .due else { return false }
        isOnTrial = true
        // If the trial's client leaves, another trial follows.
        outUntil = now + backOff
        return true
    }

    /// Records a request that failed before its response began.
    mutating func failed(now: Int64, _ policy: Policy) -> Change? {
        failures += 1
        guard policy.failuresMax > 0 else {
            // A reload may have changed the setting while the address was out.
            (backOff, isOnTrial) = (nil, false)
            return nil
        }
        if let former = backOff {
            // Requests that started before the ejection tell nothing new.
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

    /// Records a response that has begun.
    mutating func succeeded() -> Change? {
        let wasOut = backOff != nil
        failures = 0
        backOff = nil
        isOnTrial = false
        return wasOut ? .readmitted : nil
    }

    /// Records a check; the first check decides alone.
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

    /// Forgets all checks, because they are disabled.
    mutating func forgetChecks() {
        isCheckedOut = false
        isChecked = false
    }
}
