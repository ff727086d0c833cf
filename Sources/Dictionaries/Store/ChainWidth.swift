/// Whether a chain of many URLs is worth its dictionaries, or too wide for them.
///
/// What clients keep from one URL must be found again, and help, at the others. A chain where it is not, or does
/// not, rests: it offers nothing for a while, longer each time it has to stop again at once. A value; times are
/// seconds since 1970.
struct ChainWidth: Sendable {
    private var windowStart: Int?
    /// Hashes of the URLs at which clients advertised; at most one more than makes the chain wide.
    private var urls: [Int] = []
    private var advertised = 0
    private var found = 0
    private var samples = 0
    private var deltaBytes = 0
    private var plainBytes = 0
    private var restStart = 0
    private var restSeconds = 0
    /// How often it stopped without a whole window of good behaviour between.
    private var stops = 0

    /// Whether the chain offers nothing for now.
    func isResting(now: Int) -> Bool {
        // The first condition: a clock that was set back must not make the rest longer.
        now >= restStart && now - restStart < restSeconds
    }

    /// Whether so many URLs are in the window that the chain must prove its worth.
    func isWide(_ policy: ChurnPolicy) -> Bool { urls.count > policy.urlsMax }

    /// Counts a dictionary that a client advertised at a URL of the chain; says if the chain stops for it.
    mutating func note(url: Int, isFound: Bool, now: Int, policy: ChurnPolicy) -> ChainStop? {
        guard moveWindow(to: now, policy) else { return nil }
        advertised += 1
        if isFound { found += 1 }
        if !isWide(policy), !urls.contains(url) { urls.append(url) }
        guard isWide(policy), advertised >= policy.widthAdvertisedMin,
            found * 100 < advertised * policy.foundPercentMin
        else { return nil }
        return stop(.fewFound(found, of: advertised), now: now, policy)
    }

    /// Whether the delta that is now to be made should be compared: of a wide chain one in so many.
    func isSampled(_ policy: ChurnPolicy) -> Bool {
        isWide(policy) && (found - 1) % max(policy.sampleEvery, 1) == 0
    }

    /// Counts a delta and what the best plain coding of its body takes; says if the chain stops for it.
    mutating func note(deltaBytes: Int, plainBytes: Int, now: Int, policy: ChurnPolicy) -> ChainStop? {
        guard moveWindow(to: now, policy) else { return nil }
        samples += 1
        self.deltaBytes += deltaBytes
        self.plainBytes += plainBytes
        guard isWide(policy), samples >= policy.samplesMin,
            (self.plainBytes - self.deltaBytes) * 100 < self.plainBytes * policy.savedPercentMin
        else { return nil }
        return stop(.littleSaved(self.deltaBytes, of: self.plainBytes), now: now, policy)
    }

    /// Begins a new window where the last one is over; false while the chain rests.
    private mutating func moveWindow(to now: Int, _ policy: ChurnPolicy) -> Bool {
        guard !isResting(now: now) else { return false }
        if let start = windowStart, now >= start, now - start < policy.widthSeconds { return true }
        if windowStart != nil { stops = 0 }
        begin(at: now)
        return true
    }

    private mutating func begin(at start: Int?) {
        windowStart = start
        urls = []
        (advertised, found) = (0, 0)
        (samples, deltaBytes, plainBytes) = (0, 0, 0)
    }

    private mutating func stop(_ cause: ChainStop.Cause, now: Int, _ policy: ChurnPolicy) -> ChainStop {
        // So few doublings that nothing overflows, and more than the longest rest needs.
        restSeconds = min(policy.restSeconds << min(stops, 16), policy.restSecondsMax)
        restStart = now
        stops += 1
        begin(at: nil)
        return ChainStop(cause: cause, seconds: restSeconds)
    }
}
