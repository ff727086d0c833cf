internal import Foundation
internal import Glibc
internal import HTTP

/// Writes files that are either whole or absent.
enum DurableFile {
    /// The extension of unfinished files.
    static let temporaryExtension = ".dictum.part"

    /// Writes to a temporary file beside `path`, flushes it to the disk, and renames it.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let temporary = "\(path).\(UUID().uuidString)\(temporaryExtension)"
        let file = try OutputFile(creating: temporary)
        do throws(SystemError) {
            try file.write(bytes)
            try file.synchronize()
            // Both texts are terminated and used during the call only.
            guard unsafe rename(temporary, path) == 0 else { throw SystemError(code: errno) }
        } catch {
            // The text is terminated and used during the call only.
            unsafe unlink(temporary)
            throw error
        }
    }
}
