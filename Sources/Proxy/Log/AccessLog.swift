/// The access log of one loop.
///
/// It formats lines into a buffer and hands them to the sink in batches: at 32 KiB, 100 ms after the first line, at a
/// reload, and at the end.
final class AccessLog {
    private static let batchBytes = 32 << 10

    private let format: AccessLogFormat
    private let sink: LogSink
    private var sample: LogSample
    private var buffer: [UInt8] = []
    private var lines = 0

    /// Creates a log of a share of all requests, from 0 to 1.
    init(format: AccessLogFormat, share: Double, sink: LogSink) {
        self.format = format
        self.sink = sink
        sample = LogSample(share)
    }

    var isEmpty: Bool { lines == 0 }

    /// Logs a request if it falls into the share, or failed.
    func log(_ record: RequestRecord) {
        guard record.isFailure || sample.takesNext() else { return }
        format.append(record, rate: sample.rate(ofFailure: record.isFailure), to: &buffer)
        lines += 1
        if buffer.count >= Self.batchBytes { flush() }
    }

    func flush() {
        guard lines > 0 else { return }
        sink.submit(buffer, lines: lines)
        // The sink keeps the old buffer until it is written.
        buffer = []
        buffer.reserveCapacity(Self.batchBytes + 1_024)
        lines = 0
    }
}

/// The choice of a share of all requests: as many as the share says, give or take one, and no fixed rhythm.
///
/// With a fixed rhythm, every request that is chosen could be one of the same client.
struct LogSample {
    private let share: Double
    private let rateText: [UInt8]?
    /// The sum of shares since the last choice; a request is chosen when it reaches `threshold`.
    private var due = 0.0
    private var threshold = 0.0
    /// SplitMix64 (Steele, Lea, Flood 2014).
    private var state: UInt64

    init(_ share: Double, seed: UInt64 = .random(in: .min ... .max)) {
        self.share = share
        rateText = share < 1 ? Array("\(share)".utf8) : nil
        state = seed
        threshold = draw()
    }

    mutating func takesNext() -> Bool {
        due += share
        guard due >= threshold else { return false }
        due -= 1
        threshold = draw()
        return true
    }

    /// Returns the share of such requests that have a line, as text; nil if all have one.
    func rate(ofFailure isFailure: Bool) -> [UInt8]? {
        guard let rateText else { return nil }
        return isFailure ? [UInt8(ascii: "1")] : rateText
    }

    /// Returns a number from 0 up to 1.
    private mutating func draw() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return Double((bits ^ bits >> 31) >> 11) / Double(1 << 53)
    }
}

package struct AccessLogOutput: Sendable {
    let sink: LogSink
    /// The form of lines for `format: auto`.
    let isJSON: Bool

    package init(sink: LogSink, isJSON: Bool) {
        self.sink = sink
        self.isJSON = isJSON
    }

    /// Returns the log of one loop, or nil if the configuration disables it.
    func log(for configuration: Configuration, routes: RouteNames) -> AccessLog? {
        guard configuration.log.access.sample > 0 else { return nil }
        let form = configuration.log.access.format ?? (isJSON ? .json : .text)
        return AccessLog(
            format: AccessLogFormat(form, configuration: configuration, routes: routes),
            share: configuration.log.access.sample, sink: sink)
    }
}
