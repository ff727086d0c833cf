internal import Foundation

/// Where errors go, one line each.
enum StandardError {
    /// Writes a line; a standard error that is closed is no error.
    static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Array((line + "\n").utf8))
    }
}
