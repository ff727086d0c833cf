/// The access log of one loop.
///
/// It formats lines into a buffer and hands them to the sink in batches. The loop flushes it when idle, and at
/// least ten times a second.
final class AccessLog {
    private static let batchBytes = 32 << 10

    private let format: AccessLogFormat
    private let share: Double
    private let sink: LogSink
    private var buffer: [UInt8] = []
    private var lines = 0
    /// The sum of shares since the last line; a request is logged when it reaches 1.
    private var due = 0.0

    /// Creates a log of a share of all requests, from 0 to 1.
    init(format: AccessLogFormat, share: Double, sink: LogSink) {
        self.format = format
        self.share = share
        self.sink = sink
    }

    var isEmpty: Bool { lines == 0 }

    /// Logs a request if it falls into the share.
    func log(_ record: RequestRecord) {
        due += share
        guard due >= 1 else { return }
        due -= 1
        format.append(record, to: &buffer)
        lines += 1
        if buffer.count >= Self.batchBytes { flush() }
    }

    /// Hands the waiting lines to the sink.
    func flush() {
        guard lines > 0 else { return }
        sink.submit(buffer, lines: lines)
        // The sink keeps the old buffer until it is written.
        buffer = []
        buffer.reserveCapacity(Self.batchBytes + 1_024)
        lines = 0
    }
}

/// The destination and format of the access log.
package struct AccessLogOutput: Sendable {
    let sink: LogSink
    let isJSON: Bool

    package init(sink: LogSink, isJSON: Bool) {
        self.sink = sink
        self.isJSON = isJSON
    }

    /// Returns the log of one loop, or nil if the configuration disables it.
    func log(for configuration: Configuration, routes: RouteNames) -> AccessLog? {
        guard configuration.log.accessShare > 0 else { return nil }
        return AccessLog(
            format: AccessLogFormat(isJSON: isJSON, configuration: configuration, routes: routes),
            share: configuration.log.accessShare, sink: sink)
    }
}
