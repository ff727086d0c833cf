internal import Dispatch
internal import Glibc
internal import Synchronization

/// Writes batches of log lines to a descriptor on its own queue, so that no loop waits.
///
/// A bounded number of bytes waits for a slow reader; beyond that, batches are dropped and their lines counted.
package final class LogSink: Sendable {
    private let descriptor: Int32
    private let pendingBytesMax: Int
    private let pendingBytes = Atomic(0)
    private let dropped = Atomic(0)
    private let queue = DispatchQueue(label: "dictum.log")

    /// Creates a sink for a descriptor that stays open as long as the sink, by default standard output.
    package init(descriptor: Int32 = STDOUT_FILENO, pendingBytesMax: Int = 4 << 20) {
        self.descriptor = descriptor
        self.pendingBytesMax = pendingBytesMax
    }

    var linesDropped: Int { dropped.load(ordering: .relaxed) }

    /// Queues whole lines, from any thread; never waits.
    func submit(_ bytes: [UInt8], lines: Int) {
        let pending = pendingBytes.wrappingAdd(bytes.count, ordering: .relaxed).newValue
        guard pending <= pendingBytesMax else {
            pendingBytes.wrappingSubtract(bytes.count, ordering: .relaxed)
            dropped.wrappingAdd(lines, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            if !write(bytes) { dropped.wrappingAdd(lines, ordering: .relaxed) }
            pendingBytes.wrappingSubtract(bytes.count, ordering: .relaxed)
        }
    }

    /// Waits until all queued lines are written; returns false after the time-out.
    package func drain(timeoutMilliseconds: Int) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }

    /// Writes all bytes, waiting while the descriptor is full; returns false on an error.
    private func write(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            // Safe: the pointer is used within the call, for as many bytes as the array has from `start`.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start)
            }
            if count > 0 {
                start += count
            } else if count < 0, errno == EAGAIN {
                // Another process may have made this terminal or pipe non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // Safe: one entry, used within the call.
                _ = unsafe poll(&entry, 1, -1)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}

extension LogSink: MetricSource {
    static var readings: [MetricReading<LogSink>] {
        [
            .one(
                "dictum_log_lines_dropped_total",
                "Access log lines dropped because standard output did not take them."
            ) { $0.linesDropped }
        ]
    }
}
