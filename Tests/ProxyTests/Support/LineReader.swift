internal import Glibc
internal import HTTP
internal import TestSupport

/// A pipe from which a test reads lines, at most a minute each.
final class LineReader {
    /// The descriptor to write lines to.
    let writeEnd: Int32
    private let readEnd: Int32
    private var unread: [UInt8] = []

    init() throws {
        var ends: [Int32] = [0, 0]
        // Safe: the array has the two places that pipe fills.
        guard unsafe pipe(&ends) == 0 else { throw WireError.cannotListen(errno) }
        (readEnd, writeEnd) = (closedOnExec(ends[0]), closedOnExec(ends[1]))
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// The lines that are there.
    func rest() -> [String] {
        var lines: [String] = []
        while let line = next(milliseconds: 0) { lines.append(line) }
        return lines
    }

    /// Returns the next line, or nil if the time-out passes first.
    func next(milliseconds: Int32 = 60_000) -> String? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var entry = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            // Safe: one entry, used within the call; the kernel writes at most as much as the buffer holds.
            guard unsafe poll(&entry, 1, milliseconds) == 1 else { return nil }
            let count = unsafe read(readEnd, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer[..<count]
        }
    }
}
