internal import CLinux
internal import Glibc
internal import Primitives

package enum ChildProcess {
    /// Starts a program that inherits the standard descriptors, these from 3 on, and behind them a pipe to write to.
    ///
    /// Returns its process id and the end of the pipe to read from, which the caller closes.
    package static func startPiped(
        _ program: String, arguments: [String], environment: [String: String],
        passing descriptors: [Int32] = []
    ) throws(SystemError) -> (pid: Int32, output: Int32) {
        let (output, input) = try pipe()
        defer { close(input) }
        let passed = descriptors + [input]
        // Safe: the texts are copies that are freed after the call; the callee reads only the given number of
        // descriptors.
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let pid = unsafe CLinux_start(program, &words, &variables, passed, Int32(clamping: passed.count))
        guard pid > 0 else {
            let error = SystemError.last
            close(output)
            throw error
        }
        return (pid, output)
    }

    /// Makes a pipe that no other child inherits.
    package static func pipe() throws(SystemError) -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        // Safe: the array has the two places that pipe fills.
        guard unsafe Glibc.pipe(&ends) == 0 else { throw .last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Reads what comes next from a pipe; returns 0 at its end, and nil if nothing comes in time.
    package static func read(_ pipe: Int32, into buffer: inout [UInt8], within milliseconds: Int) -> Int? {
        var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        let deadline = SystemClock.monotonicNanoseconds + Int64(milliseconds) * 1_000_000
        var rest = milliseconds
        // Safe: one entry, used within the calls; the kernel writes at most as much as the buffer holds.
        while unsafe poll(&entry, 1, Int32(clamping: rest)) < 0, errno == EINTR {
            rest = max(0, Int((deadline - SystemClock.monotonicNanoseconds) / 1_000_000))
        }
        return entry.revents == 0 ? nil : max(0, unsafe Glibc.read(pipe, &buffer, buffer.count))
    }

    /// Returns the exit status of a child as shells count it, 128 and the number of a signal included.
    ///
    /// A child that does not end in time is killed; then the status is nil.
    package static func end(_ pid: Int32, within milliseconds: Int) -> Int32? {
        let deadline = SystemClock.monotonicNanoseconds + Int64(milliseconds) * 1_000_000
        var status: Int32 = 0
        // Safe: `status` is local and outlives the calls. The child has not been waited for.
        while unsafe waitpid(pid, &status, WNOHANG) == 0 {
            if SystemClock.monotonicNanoseconds >= deadline {
                kill(pid, SIGKILL)
                unsafe waitpid(pid, &status, 0)
                return nil
            }
            usleep(2_000)
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
