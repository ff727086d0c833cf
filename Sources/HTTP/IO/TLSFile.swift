internal import Glibc

/// A file that TLS is configured with.
enum TLSFile {
    private static let bytesMax = 1 << 20

    /// The bytes of a file of at most 1 MiB.
    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        // Safe: the text is terminated, and used within the call.
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw TLSError(path, "cannot be read (\(SystemError.last.text))") }
        let file = Descriptor(owning: raw)
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var count = 0
        while count < bytes.count {
            // Safe: the kernel writes at most as much as is left of the array.
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

/// What tells whether a file is still the one that was read.
struct TLSFileStamp: Equatable, Sendable {
    private let inode: UInt64
    private let bytes: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Of the file that a path leads to now; nil where there is none.
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
