internal import Dictionaries
internal import Glibc
internal import Primitives

/// The key file of private and personal dictionaries: one line of `dictum-key-1` and the base64 of 32 random bytes.
package enum StoreKeyFile {
    private static let label = "dictum-key-1 "
    /// The bytes that are read; more than a valid file has.
    private static let bytesMax = 4096

    /// Returns the keys of the file, which is made if it is missing; blocks.
    ///
    /// Calls `tell` if the file was made, and `warn` with anything else that an operator should know.
    package static func keys(
        at path: String, tell: (String) -> Void, warn: (String) -> Void
    ) throws(StoreError) -> StoreKeys {
        if try make(at: path) {
            tell("made the key file \(path): keep a copy, but not with the copies of the store")
        }
        return try existingKeys(at: path, warn: warn)
    }

    /// Checks the file as `keys` does, but makes none; blocks.
    package static func check(at path: String, warn: (String) -> Void) throws(StoreError) {
        guard !isMissing(path) else { return }
        _ = try existingKeys(at: path, warn: warn)
    }

    private static func existingKeys(
        at path: String, warn: (String) -> Void
    ) throws(StoreError) -> StoreKeys {
        let descriptor = try open(path)
        defer { Glibc.close(descriptor) }
        try checkRights(descriptor, path, warn: warn)
        guard let key = key(in: try read(descriptor, path)), let keys = StoreKeys(key: key) else {
            throw .key(
                path: path,
                "is not one line of dictum-key-1, a space, and the base64 of 32 bytes: restore a copy, or remove it to "
                    + "have a new key made, which makes all present private dictionaries useless")
        }
        return keys
    }

    /// Makes keys that last as long as this process.
    package static func temporaryKeys() throws(StoreError) -> StoreKeys {
        guard let key = try? RandomBytes.make(StoreKeys.byteCount), let keys = StoreKeys(key: key) else {
            throw .key(path: ":memory:", "cannot be made: the system gives no random bytes")
        }
        return keys
    }

    /// Returns the key in the text of a file; nil unless the text is exactly that line, with or without a
    /// line feed.
    static func key(in text: [UInt8]) -> [UInt8]? {
        var line = String(decoding: text, as: UTF8.self)
        if line.utf8.last == UInt8(ascii: "\n") { line.removeLast() }
        guard line.hasPrefix(label), let key = Base64.decode(String(line.dropFirst(label.count))) else {
            return nil
        }
        return key.count == StoreKeys.byteCount ? key : nil
    }

    // MARK: Reading

    private static func open(_ path: String) throws(StoreError) -> Int32 {
        // Safe: the text is terminated and used during the call only. `O_NONBLOCK`, in case the path is a
        // pipe.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .key(path: path, "cannot be opened (\(reason())): let this user read it, or name another")
        }
        return descriptor
    }

    private static func checkRights(
        _ descriptor: Int32, _ path: String, warn: (String) -> Void
    ) throws(StoreError) {
        var status = stat()
        // Safe: the result has room for what is written.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .key(path: path, "is not a regular file: name one in store.key_file")
        }
        let mode = String(status.st_mode & 0o777, radix: 8)
        guard status.st_mode & 0o037 == 0 else {
            throw .key(
                path: path, "has mode 0\(mode), which lets other users read or change it: chmod 600 \(path)")
        }
        // Container platforms hand out secrets as files that a group may read.
        if status.st_mode & 0o040 != 0 {
            warn("the key file \(path) has mode 0\(mode): its group may read it; chmod 600 \(path) is safer")
        }
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(StoreError) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: bytesMax)
        // Safe: at most as many bytes as the buffer has.
        let count = unsafe Glibc.read(descriptor, &text, bytesMax)
        guard count >= 0 else { throw .key(path: path, "cannot be read (\(reason())): check its disk") }
        return Array(text.prefix(count))
    }

    // MARK: Making

    /// True if there is certainly no file; false also if this user may not look.
    package static func isMissing(_ path: String) -> Bool {
        // Safe: the text is terminated and used during the call only.
        unsafe access(path, F_OK) != 0 && errno == ENOENT
    }

    /// Makes the complete file or nothing; returns false if there is one already.
    private static func make(at path: String) throws(StoreError) -> Bool {
        guard isMissing(path) else { return false }
        guard let key = try? RandomBytes.make(StoreKeys.byteCount), let suffix = try? RandomBytes.make(6)
        else { throw .key(path: path, "cannot be made: the system gives no random bytes") }
        let temporary = "\(path).\(Base64.encodeURL(suffix)).new"
        // Safe: the texts here and below are terminated and used during the calls only.
        defer { unsafe unlink(temporary) }
        guard write(Array((label + Base64.encode(key) + "\n").utf8), to: temporary) else {
            let isFull = errno == ENOSPC || errno == EDQUOT
            let advice = isFull ? "make room there" : "let this user write there"
            throw .key(path: path, "cannot be made (\(reason())): \(advice), or name another")
        }
        // Unlike a rename, a link never replaces a file that another process made in the meantime.
        guard unsafe link(temporary, path) == 0 else {
            if errno == EEXIST { return false }
            throw .key(path: path, "cannot be made (\(reason())): name another in store.key_file")
        }
        synchronizeFolder(of: path)
        return true
    }

    private static func write(_ text: [UInt8], to path: String) -> Bool {
        // Safe: text and bytes are used during the calls only, and no more bytes than there are.
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return unsafe Glibc.write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
    }

    /// Syncs the folder of a file, so that the name of a new file survives a loss of power.
    private static func synchronizeFolder(of path: String) {
        let descriptor = unsafe Glibc.open(StoreFile.folder(of: path), O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }

    /// True if the file lies in the folder of a database, after resolving links; false if that cannot be
    /// determined.
    ///
    /// The database need not exist yet.
    package static func lies(_ file: String, beside database: String) -> Bool {
        guard database != ":memory:", let folder = StoreFile.identity(of: realFolder(of: file)) else {
            return false
        }
        return folder == StoreFile.identity(of: realFolder(of: database))
    }

    /// Returns the real folder of a file that exists or would be made.
    private static func realFolder(of path: String) -> String {
        // Safe: the path is terminated and used during the call only, which allocates the text that is freed here.
        guard let text = unsafe realpath(path, nil) else { return StoreFile.folder(of: path) }
        defer { unsafe free(text) }
        return StoreFile.folder(of: unsafe String(cString: text))
    }

    /// Returns the reason why the last call failed.
    private static func reason() -> String { StoreFile.reason(errno) }
}
