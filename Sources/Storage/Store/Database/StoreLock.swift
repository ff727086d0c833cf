internal import Glibc

/// The right to write a store: an `flock` on `PATH.lock`, which the kernel releases when the process ends.
///
/// The file remains, since removing it would let two processes hold two files of that name. It contains the
/// number of the process that took the lock last.
final class StoreLock: Sendable {
    enum Attempt {
        case taken(StoreLock)
        /// Another process holds the lock; `by` is its number if the file contains one.
        case held(by: Int32?)
        /// The file cannot be made or locked.
        case failed(String)
    }

    private let path: String
    private let descriptor: Int32
    private let identity: StoreFile.Identity?

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
        identity = StoreFile.identity(of: path)
    }

    deinit { close(descriptor) }

    /// Releases the lock now, even if other references to this object remain.
    func release() { _ = flock(descriptor, LOCK_UN) }

    /// False once the file was removed or replaced, so that another process may hold the lock too.
    var isInForce: Bool { identity != nil && StoreFile.identity(of: path) == identity }

    /// Takes the lock of a database without waiting.
    static func take(for database: String) -> Attempt {
        let path = database + ".lock"
        // Safe: the path is read during the call only.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return .failed("\(path): \(StoreFile.reason(errno))") }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            defer { close(descriptor) }
            return code == EWOULDBLOCK
                ? .held(by: holder(descriptor)) : .failed("\(path): \(StoreFile.reason(code))")
        }
        let lock = StoreLock(path: path, descriptor: descriptor)
        lock.sign()
        return .taken(lock)
    }

    /// True if a process has taken the lock of a database before: it made the database, or found that it is one.
    ///
    /// Other programs have files of such names, too: theirs contain more than the number of a process.
    static func wasTaken(for database: String) -> Bool {
        // Safe: the path is read during the call only.
        let descriptor = unsafe open(database + ".lock", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // After a loss of power the file may be empty or have zeros.
        return StoreFile.head(of: descriptor, bytesMax: 64)?
            .allSatisfy { $0 == 0 || $0 == 10 || 0x30...0x39 ~= $0 } ?? false
    }

    /// Writes the number of this process, for the messages of others.
    private func sign() {
        let text = Array("\(getpid())\n".utf8)
        // Safe: the array is read during the call only. A full disk does no harm, because the lock alone
        // counts.
        unsafe text.withUnsafeBytes { bytes in
            _ = ftruncate(descriptor, 0)
            _ = unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, 0)
        }
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        guard let bytes = StoreFile.head(of: descriptor, bytesMax: 16) else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != 10 && $0 != 0 }, as: UTF8.self))
    }
}
