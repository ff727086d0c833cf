internal import Dispatch
internal import Glibc
internal import Synchronization

/// Writes batches of log lines to a descriptor, on a queue of its own so that no loop waits for it.
///
/// What a slow reader does not take is kept up to a bound; beyond it batches are dropped and their lines counted.
package final class LogSink: Sendable {
    private let descriptor: Int32
    private let pendingBytesMax: Int
    private let pendingBytes = Atomic(0)
    private let dropped = Atomic(0)
    private let queue = DispatchQueue(label: "dictum.log")

    /// Writes to a descriptor that stays the caller's, standard output unless another is given.
    package init(descriptor: Int32 = STDOUT_FILENO, pendingBytesMax: Int = 4 << 20) {
        self.descriptor = descriptor
        self.pendingBytesMax = pendingBytesMax
    }

    /// The lines that were lost.
    package var linesDropped: Int { dropped.load(ordering: .relaxed) }

    /// The loss as a sample.
    package var samples: [MetricSample] { [.init(MetricsTable.logLinesDropped, [], linesDropped)] }

    /// Takes whole lines to write, from any thread; never waits.
    package func submit(_ bytes: [UInt8], lines: Int) {
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

    /// Waits until what was submitted is written, at most so long; says whether it is.
    package func drain(timeoutMilliseconds: Int) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }

    /// Writes all bytes, waiting where the descriptor is full; false if it takes no more.
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
                // A terminal or pipe may be non-blocking for the sake of another process.
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
