internal import Glibc
internal import HTTP

/// Standard output for results that appear one by one: each line is written at once, even into a pipe.
enum StandardOutput {
    /// Writes a line; ignores errors, such as a closed standard output.
    static func write(_ line: String) {
        try? OutputFile.write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }
}
