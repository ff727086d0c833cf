internal import Dictionaries
internal import Glibc
internal import HTTP
internal import Primitives
internal import Storage

/// Writes log lines to a descriptor, opens its file again, and tells the operator about trouble.
// @unchecked proof: `LogSink` alone has it, and uses it on its serial queue only; `path` never changes.
final class LogWriter: @unchecked Sendable {
    /// The path of the file; nil for a descriptor that somebody else closes, such as standard output.
    let path: String?
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
    static let patienceStandard: Int32 = 10_000
    /// The bytes that a pipe or socket takes at once after it has said that there is room (PIPE_BUF).
    private static let pieceBytesMax = 4096

    /// Trouble that comes and goes, as of a full disk, is reported once in this time.
    private static let reportNanoseconds: Int64 = 60_000_000_000

    /// Writes to a descriptor that stays open.
    init(
        descriptor: Int32, name: String, patienceMilliseconds: Int32,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) {
        (self.descriptor, self.name, self.report) = (descriptor, name, report)
        self.patienceMilliseconds = patienceMilliseconds
        isFile = Self.isFile(descriptor)
        path = nil
    }

    /// Opens a file, behind what it has.
    init(file path: String, report: @escaping @Sendable (OperatorEvent) -> Void) throws(SystemError) {
        descriptor = try Self.open(path)
        (self.path, name, self.report) = (path, "the access log \(path)", report)
        patienceMilliseconds = Self.patienceStandard
        isFile = Self.isFile(descriptor)
    }

    deinit {
        if path != nil { close(descriptor) }
    }

    /// Opens the file at the path, which somebody may have renamed, and lets the former one go.
    ///
    /// On an error the former file gets the lines.
    func reopen() -> Bool {
        guard let path else { return false }
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

    // MARK: Writing

    /// Writes whole lines; returns how many were lost, and whether because their reader took nothing in time.
    func write(_ bytes: [UInt8], lines: Int) -> (lost: Int, isTimeOut: Bool) {
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
