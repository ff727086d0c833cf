internal import HTTP
internal import Primitives

/// The time limit of a whole fetch.
struct FetchDeadline: Sendable {
    /// The limit in seconds, counted from the start.
    let seconds: Int
    private let end: Int64

    /// Starts the clock.
    init(seconds: Int) {
        self.seconds = seconds
        end = SystemClock.monotonicNanoseconds / 1_000_000 + Int64(seconds) * 1000
    }

    /// The remaining time, 0 after the end.
    var remainingMilliseconds: Int { Int(max(0, end - SystemClock.monotonicNanoseconds / 1_000_000)) }
}
