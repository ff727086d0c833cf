internal import Foundation

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The files of one folder, each of which is either whole or absent.
struct FolderFiles: Sendable {
    static let temporaryExtension = ".dictum.part"

    let path: String

    func folder(_ name: String) -> FolderFiles { FolderFiles(path: path(name)) }

    /// Returns the names of the files and folders inside; nil if they cannot be listed now.
    func list() -> [String]? { try? FileManager.default.contentsOfDirectory(atPath: path) }

    /// Returns the first `max` bytes of a file; nil if it is gone or cannot be read now, as when a device is locked.
    func read(_ name: String, max: Int) -> [UInt8]? {
        guard let handle = FileHandle(forReadingAtPath: path(name)),
            let data = try? handle.read(upToCount: max) ?? Data()
        else { return nil }
        return [UInt8](data)
    }

    /// Writes to a temporary file, flushes it to the disk, and renames it; leaves nothing behind if one of these fails.
    func write(_ data: Data, to name: String) throws {
        let temporary = Self.newName(Self.temporaryExtension)
        do {
            let handle = try create(temporary)
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
            guard move(temporary, to: name) else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            remove(temporary)
            throw error
        }
    }

    /// Makes an empty file, without FileManager: its own temporary file would outlive a killed process under a name that nobody
    /// knows.
    private func create(_ name: String) throws -> FileHandle {
        // Safe: the text is terminated, and used during the call only.
        let descriptor = unsafe open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: path(name))
        #endif
        return handle
    }

    /// Makes a folder, with those above it.
    func create() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Renames a file or a folder in place of a file or an empty folder; returns false if that fails.
    func move(_ name: String, to other: String) -> Bool {
        // Safe: both texts are terminated, and used during the call only.
        unsafe rename(path(name), path(other)) == 0
    }

    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path(name)) }

    /// Returns what tells versions of a file apart, or of this folder without a name; nil if it is gone.
    func status(of name: String? = nil) -> FileStatus? {
        var status = stat()
        // Safe: the text is terminated, and the value initialised; both are used during the call only.
        guard unsafe lstat(name.map(path) ?? path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return FileStatus(
            number: UInt64(status.st_ino), bytes: Int(status.st_size),
            changedAt: FileStatus.nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec)))
    }

    /// Notes that a file is used; returns false if it is gone.
    func touch(_ name: String) -> Bool {
        let attributes: [FileAttributeKey: Any] = [.modificationDate: Date()]
        return (try? FileManager.default.setAttributes(attributes, ofItemAtPath: path(name))) != nil
    }

    static func newName(_ suffix: String) -> String { UUID().uuidString + suffix }

    private func path(_ name: String) -> String { "\(path)/\(name)" }
}

/// The identity of a version of a file, since each is written anew and renamed.
struct FileStatus: Equatable, Sendable {
    let number: UInt64
    let bytes: Int
    /// The time of the last change or use, in nanoseconds since 1970; of a folder, that at which a name came, went or
    /// was replaced.
    let changedAt: Int64

    /// Nanoseconds since 1970.
    static var now: Int64 { nanoseconds(Int64(Date().timeIntervalSince1970), 0) }

    /// Returns a time in nanoseconds since 1970: of files before then 0, and of files after 2255 that year's.
    static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        min(max(seconds, 0), 9_000_000_000) * 1_000_000_000 + rest
    }
}
