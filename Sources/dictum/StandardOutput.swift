internal import Glibc
internal import HTTP

/// Where results go that somebody watches as they come: each line at once, also into a pipe.
enum StandardOutput {
    /// Writes a line; a standard output that is closed is no error.
    static func write(_ line: String) {
        try? OutputFile.write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }
}
