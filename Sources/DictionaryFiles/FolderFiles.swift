internal import Foundation

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The files of one folder, each of which is either whole or absent.
struct FolderFiles: Sendable {
    static let temporaryExtension = ".dictum.part"

    let folder: URL

    /// The names of the files and folders inside.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    /// Returns the bytes of a file; nil if it cannot be read, or has more than `max` bytes.
    func read(_ name: String, max: Int) -> [UInt8]? {
        guard let handle = FileHandle(forReadingAtPath: path(name)),
            let data = try? handle.read(upToCount: max + 1), data.count <= max
        else { return nil }
        return [UInt8](data)
    }

    /// Writes to a temporary file, flushes it to the disk, and renames it.
    func write(_ data: Data, to name: String) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let temporary = path("\(UUID().uuidString)\(Self.temporaryExtension)")
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        guard FileManager.default.createFile(atPath: temporary, contents: data, attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        do {
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: temporary))
            try handle.synchronize()
            try handle.close()
            // Safe: both texts are terminated, and used during the call only.
            guard unsafe rename(temporary, path(name)) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path(name)) }

    /// The time at which a file was last written or used, in milliseconds since 1970; 0 if it is gone.
    func time(of name: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
        return ((attributes?[.modificationDate] as? Date)?.timeIntervalSince1970).map { Int64($0 * 1000) }
            ?? 0
    }

    /// Notes that a file was used.
    func touch(_ name: String, at milliseconds: Int64) {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path(name))
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
