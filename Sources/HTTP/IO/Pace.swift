/// How long to wait for a peer that sends or takes a body, so that one that drips is not waited for for ever.
///
/// Each byte buys time, at a least rate, but never more than the idle timeout is left: silence ends the wait after that
/// time, and so does who keeps below the rate for as long. Pure; the clock's milliseconds come from outside.
struct Pace: Sendable {
    private var deadlineMicroseconds: Int64 = 0

    /// When waiting has been long enough.
    var deadline: Int64 { deadlineMicroseconds / 1000 }

    /// Leaves the whole idle timeout from now on.
    mutating func restart(at now: Int64, idleTimeout: Int64) {
        deadlineMicroseconds = (now + idleTimeout) * 1000
    }

    /// Takes note of bytes that have passed; a rate of 0 asks for none.
    mutating func passed(_ bytes: Int, at now: Int64, idleTimeout: Int64, bytesPerSecond: Int) {
        let longest = (now + idleTimeout) * 1000
        guard bytesPerSecond > 0 else { return deadlineMicroseconds = longest }
        // 40 bits: no product overflows, and nobody passes a TiB at once.
        let bought = Int64(min(bytes, 1 << 40)) * 1_000_000 / Int64(bytesPerSecond)
        deadlineMicroseconds = min(longest, deadlineMicroseconds + bought)
    }
}
