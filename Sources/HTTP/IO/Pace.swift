/// The deadline for a peer that sends or takes a body, so that a slow one does not last for ever.
///
/// Each byte buys time at a minimum rate, but at most the idle time-out. A peer runs out of time after `idleTimeout` of
/// silence, or once it has been below the rate long enough to use up that credit. Pure: the caller passes the clock's
/// milliseconds.
struct Pace: Sendable {
    /// The milliseconds of silence, and the minimum rate; 0 for none.
    struct Limits: Sendable {
        let idleTimeout: Int64
        let bytesPerSecond: Int
    }

    private var deadlineMicroseconds: Int64 = 0

    var deadline: Int64 { deadlineMicroseconds / 1000 }

    init() {}

    /// Leaves a whole idle time-out from now.
    init(at now: Int64, _ limits: Limits) { restart(at: now, limits) }

    /// Sets the deadline to a whole idle time-out from now.
    mutating func restart(at now: Int64, _ limits: Limits) {
        deadlineMicroseconds = (now + limits.idleTimeout) * 1000
    }

    /// Extends the deadline for bytes that passed; with a rate of 0 to a whole idle time-out.
    mutating func passed(_ bytes: Int, at now: Int64, _ limits: Limits) {
        let longest = (now + limits.idleTimeout) * 1000
        guard limits.bytesPerSecond > 0 else { return deadlineMicroseconds = longest }
        // 40 bits: no product overflows, and no single call passes a TiB.
        let bought = Int64(min(bytes, 1 << 40)) * 1_000_000 / Int64(limits.bytesPerSecond)
        deadlineMicroseconds = min(longest, deadlineMicroseconds + bought)
    }
}

/// The state of an exchange whose peer is not read while the receiver of a body is full.
protocol Pausable {
    var isPaused: Bool { get set }
}

extension Pausable {
    mutating func pause() { isPaused = true }

    /// Ends a pause; returns false if there was none.
    mutating func resume() -> Bool {
        guard isPaused else { return false }
        isPaused = false
        return true
    }
}
