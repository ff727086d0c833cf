internal import Foundation

/// Standard error, written line by line.
enum StandardError {
    /// Writes a line; ignores errors, such as a closed standard error.
    static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Array((line + "\n").utf8))
    }
}
