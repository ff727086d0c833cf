internal import Dictionaries
internal import Dispatch
internal import Glibc
internal import HTTP
package import Storage
internal import Synchronization

/// Writes batches of lines of a log on its own queue, so that no loop waits.
///
/// A bounded number of bytes waits for a slow reader or disk; beyond that, batches are dropped and their lines counted.
package final class LogSink: Sendable {
    private let writer: LogWriter
    private let pendingBytesMax: Int
    private let pendingBytes = Atomic(0)
    private let written = Atomic(0)
    private let dropped = Atomic(0)
    private let failed = Atomic(0)
    private let reopened = Atomic(0)
    private let notReopened = Atomic(0)
    private let queue = DispatchQueue(label: "dictum.log")

    private static let pendingBytesStandard = 4 << 20

    /// Creates a sink for a descriptor that stays open as long as the sink, by default standard output.
    package init(
        descriptor: Int32 = STDOUT_FILENO, name: String = "the access log on standard output",
        pendingBytesMax: Int = pendingBytesStandard,
        patienceMilliseconds: Int32 = LogWriter.patienceStandard,
        report: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
    ) {
        writer = LogWriter(
            descriptor: descriptor, name: name, patienceMilliseconds: patienceMilliseconds, report: report)
        self.pendingBytesMax = pendingBytesMax
    }

    /// Creates a sink for a file, which is opened or made here.
    package init(file path: String, report: @escaping @Sendable (OperatorEvent) -> Void) throws(StartError) {
        do throws(SystemError) {
            writer = try LogWriter(file: path, report: report)
        } catch {
            throw .accessLog(path, error.text)
        }
        pendingBytesMax = Self.pendingBytesStandard
    }

    /// Queues whole lines, from any thread; never waits.
    package func submit(_ bytes: [UInt8], lines: Int) {
        let pending = pendingBytes.wrappingAdd(bytes.count, ordering: .relaxed).newValue
        guard pending <= pendingBytesMax else {
            pendingBytes.wrappingSubtract(bytes.count, ordering: .relaxed)
            dropped.wrappingAdd(lines, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            let (lost, isTimeOut) = writer.write(bytes, lines: lines)
            if isTimeOut {
                dropped.wrappingAdd(lost, ordering: .relaxed)
            } else {
                failed.wrappingAdd(lost, ordering: .relaxed)
            }
            written.wrappingAdd(lines - lost, ordering: .relaxed)
            pendingBytes.wrappingSubtract(bytes.count, ordering: .relaxed)
        }
    }

    /// Opens the file again after the lines that wait, as a log rotation asks for; returns false without a file.
    @discardableResult
    package func reopen() -> Bool {
        guard writer.path != nil else { return false }
        queue.async { [self] in
            if writer.reopen() {
                reopened.wrappingAdd(1, ordering: .relaxed)
            } else {
                notReopened.wrappingAdd(1, ordering: .relaxed)
            }
        }
        return true
    }

    /// Waits until all queued lines are written; returns false after the time-out.
    package func drain(timeoutMilliseconds: Int) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }
}

extension LogSink: MetricSource {
    static var readings: [MetricReading<LogSink>] {
        [
            .one("dictum_log_lines_total", "Access log lines written.") {
                $0.written.load(ordering: .relaxed)
            },
            .each(
                "dictum_log_lines_dropped_total", by: "reason",
                "Access log lines lost: their reader or disk was too slow, or refused them."
            ) {
                [
                    ("slow", $0.dropped.load(ordering: .relaxed)),
                    ("refused", $0.failed.load(ordering: .relaxed)),
                ]
            },
            .each(
                "dictum_log_reopens_total", by: "result",
                "Times that SIGUSR1 had the access log's file opened again, by result."
            ) {
                [
                    ("done", $0.reopened.load(ordering: .relaxed)),
                    ("failed", $0.notReopened.load(ordering: .relaxed)),
                ]
            },
        ]
    }
}
