internal import HTTP

/// The time by which a whole fetch must be over.
struct FetchDeadline: Sendable {
    /// The time that was given.
    let seconds: Int
    private let end: Int64

    /// Begins now.
    init(seconds: Int) {
        self.seconds = seconds
        end = Clock.monotonicNanoseconds / 1_000_000 + Int64(seconds) * 1000
    }

    /// What is left of it, 0 at the end.
    var remainingMilliseconds: Int { Int(max(0, end - Clock.monotonicNanoseconds / 1_000_000)) }
}
