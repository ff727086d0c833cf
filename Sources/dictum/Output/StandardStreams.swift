internal import Foundation
internal import Glibc
internal import HTTP

/// The descriptors 0, 1 and 2.
enum StandardStreams {
    /// Puts `/dev/null` in the place of each that the caller has closed; call it before anything is opened.
    ///
    /// The next file would get its number otherwise, and then what is meant for the stream: the access log went into
    /// the lock of the store. What is written still fails, as on the closed one, so that no result is lost silently.
    static func fill() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // The text is a literal. The lowest free number is that of the stream, and children inherit it.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }
}

/// Standard error, written line by line.
enum StandardError {
    /// Writes a line; ignores errors, such as a closed standard error.
    static func write(_ line: String) {
        try? OutputFile.write(Array((line + "\n").utf8), to: STDERR_FILENO, patienceMilliseconds: 1000)
    }
}

/// Standard output for results: each text is written at once, even into a pipe.
enum StandardOutput {
    /// Writes a text; a result that is lost must not end with 0, as it does with `print`, which ignores a full disk.
    static func write(_ text: String, terminator: String = "\n") throws(CommandError) {
        try OutputFile.write(Array((text + terminator).utf8), toFile: "-")
    }

    /// Writes a result: as JSON, or for people as a text, which may have its last line end already.
    static func write(
        _ result: some Encodable, isJSON: Bool, _ text: @autoclosure () -> String
    ) throws(CommandError) {
        if isJSON { return try write(OutputFormat.json(result)) }
        let text = text()
        try write(text, terminator: text.hasSuffix("\n") ? "" : "\n")
    }

    /// Writes a list: as JSON its report, for people its rows under their titles, if there are any, and the summary.
    static func write(
        _ report: some Encodable, isJSON: Bool, _ rows: [[String]], under titles: [String], _ summary: String
    ) throws(CommandError) {
        let table = rows.isEmpty ? "" : OutputFormat.table([titles] + rows) + "\n"
        try write(report, isJSON: isJSON, table + summary)
    }
}

/// Files of bounded size that are read as a whole.
enum InputFile {
    /// Reads a file, or standard input if the name is `-`; `advice` says what to do about a larger one.
    static func read(_ name: String, max: Int, advice: String = "") throws(CommandError) -> Data {
        let handle = name == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: name)
        // One byte more tells that there is more.
        guard let handle, let data = try? handle.read(upToCount: max + 1) ?? Data() else {
            throw CommandError("cannot read \(name)")
        }
        guard data.count <= max else {
            throw CommandError("\(name) is larger than \(OutputFormat.size(max))\(advice)")
        }
        return data
    }
}

enum OutputFile {
    /// Writes a body to a file, or to standard output if the name is `-`; devices and pipes stay what they are.
    static func write(_ body: [UInt8], toFile name: String) throws(CommandError) {
        do throws(SystemError) {
            guard name != "-" else { return try write(body, to: STDOUT_FILENO) }
            // The text is terminated and used during the call only.
            let raw = unsafe open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
            guard raw >= 0 else { throw SystemError(code: errno) }
            defer { close(raw) }
            try write(body, to: raw)
        } catch {
            throw CommandError("cannot write to \(name == "-" ? "standard output" : name): \(error.text)")
        }
    }

    /// Writes a body to a file that has its name only once it is whole.
    static func writeWhole(_ body: [UInt8], toFile name: String) throws(CommandError) {
        let part = name + ".part"
        // The texts are terminated and used during the calls only.
        defer { unsafe _ = unlink(part) }
        try write(body, toFile: part)
        guard unsafe rename(part, name) == 0 else {
            throw CommandError("cannot write to \(name): \(SystemError(code: errno).text)")
        }
    }

    /// Writes bytes, and waits for the reader of a pipe that does not block: for ever, or for so long between two pieces.
    static func write(
        _ bytes: [UInt8], to descriptor: Int32, patienceMilliseconds: Int32 = -1
    ) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            // The kernel reads within the array, from `offset` to its end.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
            }
            if count > 0 {
                offset += count
            } else if errno == EAGAIN {
                // Whoever shares the pipe with us has made it non-blocking, and its reader is slow.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // Safe: one entry, used within the call.
                guard unsafe poll(&entry, 1, patienceMilliseconds) != 0 else {
                    throw SystemError(code: EAGAIN)
                }
            } else if errno != EINTR {
                throw SystemError(code: errno)
            }
        }
    }
}
