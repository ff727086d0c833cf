/// The cost that one HTTP/2 connection may cause beyond the responses that it gets.
///
/// Pure, so that a test can drive it. A reset counts whoever sends it: a client that provokes resets by wrong frames
/// (CVE-2025-8671) costs as much as one that sends them (CVE-2023-44487). Completed responses and time refill the budgets,
/// so that a browser that cancels much is not taken for an attacker.
struct HTTP2Budget: Sendable {
    /// The number of resets that a new connection may cause.
    static let resetsMax = 100
    /// The age in milliseconds from which on the reset of a stream that has got some of its body does not count.
    ///
    /// Readers of event streams end no response otherwise, and a proxy in front has those of all its users on one
    /// connection. What it costs is bounded by the streams at a time: a hundred per second.
    static let freeResetAge: Int64 = 1_000
    /// The number of frames that carry no request or body, as of a connection that gets no response.
    static let controlFramesMax = 1_000
    /// The control frames that one completed response justifies: window updates above all.
    static let controlFramesPerResponse = 8
    /// The bytes of bodies that justify one more: some clients open two windows for each KiB that they read.
    static let bytesPerControlFrame = 256
    /// The resets, and as many control frames, that each second justifies.
    static let perSecond: Int64 = 10

    private(set) var resets = HTTP2Budget.resetsMax
    private(set) var controlFrames = HTTP2Budget.controlFramesMax
    private var bytes = 0
    private var refilledAt: Int64

    /// Begins with full budgets at a monotonic millisecond.
    init(now: Int64) { refilledAt = now }

    /// Counts a reset; returns false once there were too many.
    ///
    /// `bodyAge` is the age of a stream that has got some of its body, in milliseconds.
    mutating func countReset(now: Int64, bodyAge: Int64? = nil) -> Bool {
        if let bodyAge, bodyAge >= Self.freeResetAge { return true }
        refill(now: now)
        resets -= 1
        return resets >= 0
    }

    /// Counts a frame that carries no request or body; returns false once there were too many.
    mutating func countControlFrame(now: Int64) -> Bool {
        refill(now: now)
        controlFrames -= 1
        return controlFrames >= 0
    }

    private mutating func refill(now: Int64) {
        let seconds = (now - refilledAt) / 1000
        guard seconds > 0 else { return }
        refilledAt += seconds * 1000
        let earned = Int(min(seconds, 1_000) * Self.perSecond)
        resets = min(resets + earned, Self.resetsMax)
        justify(earned)
    }

    mutating func responseCompleted() {
        resets = min(resets + 1, Self.resetsMax)
        justify(Self.controlFramesPerResponse)
    }

    /// Counts bytes of bodies, in either direction.
    mutating func passed(_ count: Int) {
        bytes += count
        justify(bytes / Self.bytesPerControlFrame)
        bytes %= Self.bytesPerControlFrame
    }

    private mutating func justify(_ frames: Int) {
        controlFrames = min(controlFrames + frames, Self.controlFramesMax)
    }
}

/// The limits of an HTTP/2 connection, as metrics name them.
package enum HTTP2Limit: String, CaseIterable, Sendable {
    /// Resets, by the client or provoked by it.
    case resets
    /// Frames that ask for nothing.
    case controlFrames = "control-frames"
    /// Bytes of the header sections of all streams.
    case heads
    /// A header section that does not come to its end.
    case headTimeout = "head-timeout"
    /// Streams at a time.
    case streams
    /// A request's body that stalls.
    case stalledRequest = "stalled-request"
    /// A window that the client does not open.
    case stalledResponse = "stalled-response"
}
