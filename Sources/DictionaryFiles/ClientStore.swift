internal import Dictionaries
public import Foundation
internal import Primitives

/// The folder in which an app keeps dictionaries, apart for each of its users.
///
/// Several processes may share the folder. It is excluded from backups, and where the platform protects files, they can
/// be read only after the device was unlocked once.
public final class ClientStore: Sendable {
    /// The number of bytes that the dictionaries of one user may take.
    public struct Limit: Sendable {
        let bytes: Int

        /// Returns a limit in MiB.
        public static func mebibytes(_ count: Int) -> Limit { Limit(bytes: count << 20) }
    }

    private let folder: URL
    private let limit: Limit
    private let users = Guarded<[String: UserDictionaries]>([:])

    private init(folder: URL, limit: Limit) {
        self.folder = folder
        self.limit = limit
    }

    /// Opens the store in a folder, which is created if it is missing; beyond the limit, what was used least recently goes.
    public static func persistent(at folder: URL, limit: Limit) throws -> ClientStore {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #if canImport(Darwin)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var excluded = folder
        try excluded.setResourceValues(values)
        #endif
        return ClientStore(folder: folder, limit: limit)
    }

    /// Removes the dictionaries of all users.
    public func removeAll() async {
        // Users of earlier runs of the app have folders only.
        for name in FolderFiles(folder: folder).names { await dictionaries(in: name).removeAll() }
    }

    /// Returns the dictionaries of a user; nil stands for what the app fetches for no user.
    package func dictionaries(of user: String?) -> UserDictionaries {
        // The digest makes a file name of any id, and tells it to nobody.
        dictionaries(in: user.map { Digest(of: Array($0.utf8).span).base64URL } ?? "nobody")
    }

    private func dictionaries(in name: String) -> UserDictionaries {
        users.withLock { users in
            if let known = users[name] { return known }
            let files = FolderFiles(folder: folder.appendingPathComponent(name, isDirectory: true))
            let made = UserDictionaries(files, bytesMax: limit.bytes)
            users[name] = made
            return made
        }
    }
}
