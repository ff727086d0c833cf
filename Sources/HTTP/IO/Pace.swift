/// The deadline for a peer that sends or takes a body, so that a slow one does not last for ever.
///
/// Each byte buys time at a minimum rate, but at most the idle time-out. So the wait ends after that much
/// silence, or after that long below the rate. Pure: the caller passes the clock's milliseconds.
struct Pace: Sendable {
    private var deadlineMicroseconds: Int64 = 0

    /// The end of the wait.
    var deadline: Int64 { deadlineMicroseconds / 1000 }

    /// Sets the deadline to a whole idle time-out from now.
    mutating func restart(at now: Int64, idleTimeout: Int64) {
        deadlineMicroseconds = (now + idleTimeout) * 1000
    }

    /// Extends the deadline for bytes that passed; with a rate of 0 to a whole idle time-out.
    mutating func passed(_ bytes: Int, at now: Int64, idleTimeout: Int64, bytesPerSecond: Int) {
        let longest = (now + idleTimeout) * 1000
        guard bytesPerSecond > 0 else { return deadlineMicroseconds = longest }
        // 40 bits: no product overflows, and nobody sends a TiB at once.
        let bought = Int64(min(bytes, 1 << 40)) * 1_000_000 / Int64(bytesPerSecond)
        deadlineMicroseconds = min(longest, deadlineMicroseconds + bought)
    }
}
