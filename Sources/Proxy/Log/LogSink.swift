internal import Dispatch
internal import Glibc
internal import HTTP
internal import Primitives
package import Storage

/// Writes batches of lines of a log on its own queue, so that no loop waits.
///
/// A bounded number of bytes waits for a slow reader or disk; beyond that, batches are dropped and their lines counted. It opens its
/// file again, and tells the operator about trouble.
// @unchecked proof: the variables are used on the serial queue only, once `init` has ended; `counts` has a lock.
package final class LogSink: @unchecked Sendable {
    private struct Counts: Sendable {
        var pendingBytes = 0
        var written = 0
        /// The lines lost because the reader or the disk was too slow, and those that it has refused.
        var slow = 0
        var refused = 0
        var reopened = 0
        var notReopened = 0
    }

    private let queue = DispatchQueue(label: "dictum.log")
    private let counts = Guarded(Counts())
    private let pendingBytesMax: Int
    /// The path of the file; nil for a descriptor that somebody else closes, such as standard output.
    private let path: String?
    /// The name of the log in messages for the operator.
    private let name: String
    private var descriptor: Int32
    /// True for a file, whose disk is not waited for.
    private var isFile: Bool
    private let patienceMilliseconds: Int32
    private let report: @Sendable (OperatorEvent) -> Void
    /// True if the last line is cut off and could not be removed.
    private var isTorn = false
    /// The lines lost since the last report.
    private var lost = 0
    /// True after a report of trouble, until lines are written again.
    private var hasReported = false
    private var nextReport: Int64 = .min
    /// True after a reader has taken nothing for the whole patience; until it takes bytes again nothing waits for it.
    private var isStalled = false

    /// The longest wait for a reader that takes nothing; its lines are lost then, so that a rotation goes on.
    private static let patienceStandard: Int32 = 10_000
    /// The bytes that a pipe or socket takes at once after it has said that there is room (PIPE_BUF).
    private static let pieceBytesMax = 4096

    /// Trouble that comes and goes, as of a full disk, is reported once in this time.
    private static let reportNanoseconds: Int64 = 60_000_000_000
    private static let pendingBytesStandard = 4 << 20

    /// Creates a sink for a descriptor that stays open as long as the sink, by default standard output.
    package init(
        descriptor: Int32 = STDOUT_FILENO, name: String = "the access log on standard output",
        pendingBytesMax: Int = pendingBytesStandard, patienceMilliseconds: Int32 = patienceStandard,
        report: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
    ) {
        (self.descriptor, self.name, self.report) = (descriptor, name, report)
        (self.pendingBytesMax, self.patienceMilliseconds) = (pendingBytesMax, patienceMilliseconds)
        isFile = Self.isFile(descriptor)
        path = nil
    }

    /// Creates a sink for a file, which is opened or made here, and gets the lines behind what it has.
    package init(file path: String, report: @escaping @Sendable (OperatorEvent) -> Void) throws(StartError) {
        do throws(SystemError) {
            descriptor = try Self.open(path)
        } catch {
            throw .accessLog(path, error.text)
        }
        (self.path, name, self.report) = (path, "the access log \(path)", report)
        (pendingBytesMax, patienceMilliseconds) = (Self.pendingBytesStandard, Self.patienceStandard)
        isFile = Self.isFile(descriptor)
    }

    deinit {
        if path != nil { close(descriptor) }
    }

    /// Queues whole lines, from any thread; never waits.
    package func submit(_ bytes: [UInt8], lines: Int) {
        let hasRoom = counts.withLock { counts in
            guard counts.pendingBytes + bytes.count <= pendingBytesMax else {
                counts.slow += lines
                return false
            }
            counts.pendingBytes += bytes.count
            return true
        }
        guard hasRoom else { return }
        queue.async { [self] in
            let (lost, isTimeOut) = write(bytes, lines: lines)
            counts.withLock { counts in
                if isTimeOut { counts.slow += lost } else { counts.refused += lost }
                counts.written += lines - lost
                counts.pendingBytes -= bytes.count
            }
        }
    }

    /// Opens the file again after the lines that wait, as a log rotation asks for; returns false without a file.
    @discardableResult
    package func reopen() -> Bool {
        guard let path else { return false }
        queue.async { [self] in
            let isOpen = reopen(path)
            counts.withLock { if isOpen { $0.reopened += 1 } else { $0.notReopened += 1 } }
        }
        return true
    }

    /// Waits until all queued lines are written; returns false after the time-out.
    package func drain(timeoutMilliseconds: Int) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }

    // MARK: On the queue

    /// Opens the file at the path, which somebody may have renamed, and lets the former one go.
    ///
    /// On an error the former file gets the lines.
    private func reopen(_ path: String) -> Bool {
        do throws(SystemError) {
            let fresh = try Self.open(path)
            close(descriptor)
            descriptor = fresh
            isFile = Self.isFile(fresh)
            (isTorn, isStalled) = (false, false)
            report(.info("the access log \(path) is open again"))
            return true
        } catch {
            report(
                .error(
                    """
                    cannot open the access log \(path) again: \(error.text); the former file gets the lines until the next \
                    SIGUSR1
                    """))
            return false
        }
    }

    private static func open(_ path: String) throws(SystemError) -> Int32 {
        // A FIFO without a reader must not block; other files do not care.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        // Safe: the copy of the path lives as long as the call.
        let descriptor = unsafe Glibc.open(path, flags, 0o640)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        return descriptor
    }

    private static func isFile(_ descriptor: Int32) -> Bool {
        var facts = stat()
        // Safe: `facts` is local and outlives the call.
        return unsafe fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    /// Writes whole lines; returns how many were lost, and whether because their reader took nothing in time.
    private func write(_ bytes: [UInt8], lines: Int) -> (lost: Int, isTimeOut: Bool) {
        if isTorn, put([UInt8(ascii: "\n")]).count == 1 { isTorn = false }
        let (written, code) = put(bytes)
        guard written < bytes.count else {
            noteWritten()
            return (0, false)
        }
        let whole = bytes[..<written].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < written { isTorn = !cutBack(by: written - whole) }
        let lost = lines - bytes[..<whole].count { $0 == UInt8(ascii: "\n") }
        noteLost(lost, code)
        return (lost, code == ETIMEDOUT)
    }

    /// Writes bytes, waiting while the descriptor is full; returns how many went, and the error that ended it: ETIMEDOUT
    /// if the wait was in vain.
    private func put(_ bytes: [UInt8]) -> (count: Int, code: Int32) {
        var start = 0
        while start < bytes.count {
            guard isFile || awaitRoom() else { return (start, ETIMEDOUT) }
            let countMax = isFile ? bytes.count - start : min(Self.pieceBytesMax, bytes.count - start)
            // Safe: the pointer is used within the call, for no more bytes than the array has from `start`.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: start), countMax)
            }
            if count > 0 {
                start += count
                isStalled = false
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                return (start, errno)
            }
        }
        return (start, 0)
    }

    /// Waits until the reader has made room for a piece; returns false if it makes none in time.
    ///
    /// The descriptor may block, since it belongs to others too: only a piece that finds room never does.
    private func awaitRoom() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Safe: one entry, used within the call. An error counts as room: the write tells it.
        isStalled = unsafe poll(&entry, 1, isStalled ? 0 : patienceMilliseconds) == 0
        return !isStalled
    }

    /// Removes the last bytes of the file, unless another process has written behind them.
    private func cutBack(by count: Int) -> Bool {
        let end = lseek(descriptor, 0, SEEK_CUR)
        var facts = stat()
        // Safe: `facts` is local and outlives the call.
        guard end >= count, unsafe fstat(descriptor, &facts) == 0, facts.st_size == end else { return false }
        guard ftruncate(descriptor, end - count) == 0 else { return false }
        // Without O_APPEND the next line would come behind a gap.
        return lseek(descriptor, end - count, SEEK_SET) >= 0
    }

    // MARK: Trouble

    private func noteLost(_ lines: Int, _ code: Int32) {
        lost += lines
        let now = SystemClock.monotonicNanoseconds
        guard !hasReported, now >= nextReport else { return }
        hasReported = true
        nextReport = now + Self.reportNanoseconds
        let why =
            code == ETIMEDOUT
            ? "its reader has taken nothing for \(patienceMilliseconds / 1000) s"
            : SystemError(code: code).text
        report(.error("cannot write \(name): \(why); its lines are lost until that ends"))
    }

    private func noteWritten() {
        guard hasReported else { return }
        hasReported = false
        report(.warning("\(name) takes lines again: \(lost) were lost"))
        lost = 0
    }
}

extension LogSink: MetricSource {
    static var readings: [MetricReading<LogSink>] {
        [
            .one("dictum_log_lines_total", "Access log lines written.") {
                $0.counts.withLock { $0.written }
            },
            .each(
                "dictum_log_lines_dropped_total", by: "reason",
                "Access log lines lost: their reader or disk was too slow, or refused them."
            ) { $0.counts.withLock { [("slow", $0.slow), ("refused", $0.refused)] } },
            .each(
                "dictum_log_reopens_total", by: "result",
                "Times that SIGUSR1 had the access log's file opened again, by result."
            ) { $0.counts.withLock { [("done", $0.reopened), ("failed", $0.notReopened)] } },
        ]
    }
}
