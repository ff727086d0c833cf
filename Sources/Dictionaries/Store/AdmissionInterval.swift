/// The pace at which a chain takes new bodies, from none held back to one in a long while.
///
/// A chain whose versions are evicted before clients return takes fewer, so that those it has stay for longer. A
/// value; times are seconds since 1970.
struct AdmissionInterval: Sendable {
    /// The least time between two admissions; 0: every new body is admitted.
    private(set) var seconds = 0
    private var lastAdmission: Int?
    private var lastRefused: Digest?
    private var windowStart: Int?
    private var advertised = 0
    private var evicted = 0

    /// Counts a dictionary that a client advertised for the chain.
    ///
    /// The pace changes at the end of a window: after so many advertisements, and no sooner than the interval,
    /// because until the next admission nothing can have changed.
    mutating func note(isEvicted: Bool, now: Int, policy: ChurnPolicy) {
        let start = windowStart.map { min($0, now) } ?? now
        windowStart = start
        advertised += 1
        if isEvicted { evicted += 1 }
        guard advertised >= policy.advertisedMin, now - start >= seconds else { return }
        adapt(policy)
        windowStart = nil
        advertised = 0
        evicted = 0
    }

    private mutating func adapt(_ policy: ChurnPolicy) {
        let percent = evicted * 100
        if percent > advertised * policy.doublingPercent {
            seconds = min(max(seconds * 2, policy.firstIntervalSeconds), policy.intervalSecondsMax)
        } else if percent < advertised * policy.halvingPercent {
            seconds = seconds > policy.firstIntervalSeconds ? seconds / 2 : 0
        }
    }

    /// Takes the turn to admit a new body, if there is one now.
    ///
    /// A body that was refused before waits for twice as long: the next one, if it comes in time, will be offered
    /// from its first second on, and not for the rest of its life only. Give no digest where it is not known.
    mutating func claim(_ digest: Digest?, now: Int) -> Bool {
        let wait = digest != nil && digest == lastRefused ? seconds * 2 : seconds
        // A clock that was set back must not hold everything up until it has caught up.
        if wait > 0, let last = lastAdmission, now >= last, now - last < wait {
            lastRefused = digest
            return false
        }
        lastAdmission = now
        lastRefused = nil
        return true
    }
}
