internal import Glibc

/// Reads the files of the TLS configuration.
enum TLSFile {
    private static let bytesMax = 1 << 20

    /// Returns the bytes of a file of at most 1 MiB.
    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        // Safe: the text is terminated, and used within the call.
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw TLSError(path, "cannot be read (\(SystemError.last.text))") }
        let file = Descriptor(owning: raw)
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var count = 0
        while count < bytes.count {
            // Safe: the kernel writes at most into the rest of the array.
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file.raw, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            guard more >= 0 else { throw TLSError(path, "cannot be read (\(SystemError.last.text))") }
            if more == 0 { break }
            count += more
        }
        guard count <= bytesMax else { throw TLSError(path, "is larger than 1 MiB") }
        return Array(bytes[..<count])
    }
}

/// The identity of a file's content; unequal stamps mean that the file has changed.
struct TLSFileStamp: Equatable, Sendable {
    private let inode: UInt64
    private let bytes: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Takes the stamp of the file at a path; nil if there is none.
    init?(_ path: String) {
        var status = stat()
        // Safe: `status` is local and outlives the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        bytes = Int(status.st_size)
        seconds = Int(status.st_mtim.tv_sec)
        nanoseconds = Int(status.st_mtim.tv_nsec)
    }
}
