internal import FoundationEssentials
internal import Glibc

/// The files of a store: what they are, what is set aside, and what is refused.
package enum StoreFile {
    /// The identity of a file; it changes when the file is removed or renamed and made again.
    struct Identity: Equatable, Sendable {
        let device: UInt64
        let node: UInt64
    }

    enum SetAside: Equatable {
        case moved(to: String)
        /// Another process has set it aside before.
        case alreadyGone
        /// The file system refused.
        case failed
    }

    /// The number of damaged databases that are kept; the oldest are removed, as each may be as large as the
    /// store.
    static let damagedMax = 3

    /// Returns the identity of the file at a path; nil if there is none.
    static func identity(of path: String) -> Identity? {
        status(of: path).map { Identity(device: UInt64($0.st_dev), node: UInt64($0.st_ino)) }
    }

    /// Returns the length of a file; 0 if there is none.
    static func bytes(of path: String) -> Int {
        status(of: path).map { Int($0.st_size) } ?? 0
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        // Safe: `status` is local and of the size that the call fills; the path is read during the call only.
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the text of an error number.
    static func reason(_ code: Int32) -> String {
        // Safe: the text is copied at once; another thread can only make it another error's.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    /// Makes an empty file for its owner only, unless it exists: another process may just have made it.
    static func create(_ path: String) {
        // Safe: the path is read during the call only. An existing file is not opened, because closing it
        // would drop the locks that SQLite holds on it.
        let raw = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if raw >= 0 { close(raw) }
    }

    /// Renames database and log to a name with the date, if the path still leads to that file.
    ///
    /// The log is renamed first: an empty database would take a remaining log for its own.
    static func setAside(_ path: String, ifStill identity: Identity?) -> SetAside {
        guard let identity, self.identity(of: path) == identity else { return .alreadyGone }
        let target = freeName(for: path)
        let files = FileManager.default
        for suffix in ["-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
            guard (try? files.moveItem(atPath: path + suffix, toPath: target + suffix)) != nil else {
                return .failed
            }
        }
        guard (try? files.moveItem(atPath: path, toPath: target)) != nil else { return .failed }
        removeOldest(of: path)
        return .moved(to: target)
    }

    private static func freeName(for path: String) -> String {
        let date = Date.now.formatted(.iso8601.timeSeparator(.omitted))
        let wanted = "\(path).damaged-\(date)"
        // Number it after all others of the same second. A free lower number would make this one the oldest.
        let numbers = damaged(path).names.map(age).filter { $0.date.hasSuffix(".damaged-\(date)") }.map(
            \.number)
        var attempt = (numbers.max() ?? 0) + 1
        var target = attempt == 1 ? wanted : "\(wanted)-\(attempt)"
        while ["", "-wal", "-shm"].contains(where: { identity(of: target + $0) != nil }) {
            attempt += 1
            target = "\(wanted)-\(attempt)"
        }
        return target
    }

    private static func removeOldest(of path: String) {
        let (folder, names) = damaged(path)
        for name in names.sorted(by: { age($0) < age($1) }).dropLast(damagedMax) {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(folder)/\(name)\(suffix)")
            }
        }
    }

    /// Returns the folder of a database, and the files in it that were set aside, without their logs.
    private static func damaged(_ path: String) -> (folder: String, names: [String]) {
        let folder = folder(of: path)
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let prefix = name + ".damaged-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return (
            folder, names.filter { $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        )
    }

    /// Returns the sort key of a name: the date, which sorts as text and ends in a Z, then the number.
    private static func age(_ name: String) -> (date: String, number: Int) {
        guard let end = name.lastIndex(of: "Z") else { return (name, 0) }
        return (String(name[...end]), Int(name[end...].dropFirst(2)) ?? 1)
    }

    private static let headerBytes = 100
    private static let applicationOffset = 68

    /// Throws if what is at a path can be no store; blocks.
    ///
    /// The file is neither changed nor locked.
    package static func check(path: String) throws(StoreError) {
        guard path != ":memory:", let refusal = refusal(of: path) else { return }
        throw refusal
    }

    /// Returns why what is at a path can be no store, so that it is neither opened nor set aside; nil if it may be
    /// one, or if nothing is there.
    ///
    /// A wrong `store.path` may name any file of its user. A file counts as a store, however damaged, if its head says
    /// so, or if a process of Dictum has had the lock beside it. Not to be called while this process has the database
    /// open: closing the file would drop the locks that SQLite holds on it.
    static func refusal(of path: String) -> StoreError? {
        guard let status = status(of: path) else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { return .noStore(path: path) }
        guard status.st_size > 0, !StoreLock.wasTaken(for: path) else { return nil }
        // Safe: the path is read during the call only.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        // What this user cannot read is left to SQLite, which says why.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let head = head(of: descriptor, bytesMax: headerBytes), head.count == headerBytes,
            head.starts(with: "SQLite format 3\0".utf8)
        else { return .noStore(path: path) }
        let application = head[applicationOffset..<applicationOffset + 4].reduce(0) { $0 << 8 | Int($1) }
        // Until the first checkpoint of a new store its number is in the log only.
        return [0, StoreSchema.applicationID].contains(application) ? nil : .foreignDatabase(path: path)
    }

    /// Returns the first bytes of an open file; nil if it cannot be read.
    static func head(of descriptor: Int32, bytesMax: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        // Safe: the array has the room that the call may fill.
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Removes the rights of other users from the files of a database.
    ///
    /// Returns true if there were any, and nil if they cannot be removed.
    static func restrict(_ path: String) -> Bool? {
        var wasOpen = false
        for file in [path, path + "-wal", path + "-shm"] {
            guard let status = status(of: file), status.st_mode & 0o077 != 0 else { continue }
            // Safe: the path is read during the call only.
            guard unsafe chmod(file, status.st_mode & 0o700) == 0 else { return nil }
            wasOpen = true
        }
        return wasOpen
    }
}
