/// The decision about one connection: when its server counts as failing, and when it is tried again; a pure value.
///
/// Closed, it counts time-outs in a row. Open, it waits, twice as long after each failed trial. Half open, it lets probes
/// pass, and closes after several in a row.
package struct CircuitBreaker: Sendable {
    package enum State: String, Sendable, CaseIterable {
        case closed
        case halfOpen = "half-open"
        case open
    }

    /// The number of time-outs in a row that open it.
    static let timeoutsMax = 5
    /// The number of probes in a row that close it.
    static let probeCount = 3
    /// The first pause before a trial, in milliseconds.
    static let firstPause: Int64 = 100
    /// The longest pause, and the time after which failures of the past are forgotten.
    static let longestPause: Int64 = 10_000

    /// Open at first: nothing is known about the server.
    package private(set) var state = State.open
    private var timeouts = 0
    private var probes = 0
    private var failures = 0
    private var closedAt: Int64 = 0

    mutating func noteReply() { timeouts = 0 }

    /// Notes a time-out; returns true if the server now counts as failing.
    mutating func noteTimeout() -> Bool {
        guard state == .closed else { return false }
        timeouts += 1
        return timeouts >= Self.timeoutsMax
    }

    /// Opens the breaker: the connection is lost, the server too slow, or a probe has failed.
    mutating func open(now: Int64) {
        if state == .closed, now - closedAt >= Self.longestPause { failures = 0 }
        failures += 1
        state = .open
        timeouts = 0
        probes = 0
    }

    /// Lets probes pass.
    mutating func beginTrial() { state = .halfOpen }

    /// Notes a probe with a reply in time; returns true if that closes the breaker.
    mutating func noteProbe(now: Int64) -> Bool {
        guard state == .halfOpen else { return false }
        probes += 1
        guard probes >= Self.probeCount else { return false }
        state = .closed
        closedAt = now
        return true
    }

    /// Returns the milliseconds until the next trial; `chance` from 0 to 1 spreads the nodes of a fleet.
    func pause(chance: Double) -> Int64 {
        let doubled = Self.firstPause << min(Int64(max(failures - 1, 0)), 10)
        let whole = min(doubled, Self.longestPause)
        return whole / 2 + Int64(Double(whole / 2) * chance)
    }
}
