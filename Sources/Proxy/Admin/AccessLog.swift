/// The access log of one loop: formats lines into a buffer and hands it to the sink in batches.
///
/// The loop flushes it when it has nothing else to do, and at least ten times a second.
package final class AccessLog {
    private static let batchBytes = 32 << 10

    private let format: AccessLogFormat
    private let share: Double
    private let sink: LogSink
    private var buffer: [UInt8] = []
    private var lines = 0
    /// What the share has come to since the last line; at 1 the next request is logged.
    private var due = 0.0

    /// A log of a share of all requests, from 0 to 1.
    package init(format: AccessLogFormat, share: Double, sink: LogSink) {
        self.format = format
        self.share = share
        self.sink = sink
    }

    /// Whether there are lines to flush.
    package var isEmpty: Bool { lines == 0 }

    /// Logs a request, if it is one of the share.
    package func log(_ record: RequestRecord) {
        due += share
        guard due >= 1 else { return }
        due -= 1
        format.append(record, to: &buffer)
        lines += 1
        if buffer.count >= Self.batchBytes { flush() }
    }

    /// Hands what there is to the sink.
    package func flush() {
        guard lines > 0 else { return }
        sink.submit(buffer, lines: lines)
        // The sink keeps the old buffer until it is written.
        buffer = []
        buffer.reserveCapacity(Self.batchBytes + 1_024)
        lines = 0
    }
}
