internal import Dictionaries
public import Foundation
internal import Primitives

/// The folder in which an app keeps dictionaries, apart for each of its users.
///
/// Several processes may share the folder: what one keeps, or removes, the others see at once. It is excluded from backups, and
/// where the platform protects files, they can be read only after the device was unlocked once.
public final class ClientStore: Sendable {
    /// The number of bytes that the dictionaries of all users may take together, with their records.
    ///
    /// Beyond it, or beyond 1,000 dictionaries, those go that were used least recently, of whichever user.
    public struct Limit: Sendable {
        let bytes: Int

        /// Returns a limit in MiB.
        public static func mebibytes(_ count: Int) -> Limit { Limit(bytes: count << 20) }
    }

    /// Further users have their records read again when they are back.
    private static let usersMax = 32

    private let limit: StoreLimit
    /// The users with the latest requests, by the names of their folders; the last is the latest.
    private let users = Guarded<[(name: String, dictionaries: UserDictionaries)]>([])

    private init(_ limit: StoreLimit) { self.limit = limit }

    /// Opens the store in a folder, which is created if it is missing.
    public static func persistent(at folder: URL, limit: Limit) throws -> ClientStore {
        let files = FolderFiles(path: folder.path)
        try files.create()
        #if canImport(Darwin)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var excluded = folder
        try excluded.setResourceValues(values)
        #endif
        let bound = StoreLimit(store: files, bytesMax: limit.bytes)
        bound.apply()
        return ClientStore(bound)
    }

    /// Removes the dictionaries of all users; requests on their way keep nothing any more.
    public func removeAll() async {
        // Users of earlier runs, and of other processes, have folders only; each request that may keep something begins with one.
        for user in limit.users { user.remove() }
    }

    /// Returns the dictionaries of a user; nil stands for what the app fetches for no user.
    package func dictionaries(of user: String?) -> UserDictionaries {
        // The digest makes a file name of any id, and tells it to nobody.
        let name = user.map { Digest(of: Array($0.utf8).span).base64URL } ?? "nobody"
        return users.withLock { users in
            let known = users.firstIndex { $0.name == name }.map { users.remove(at: $0).dictionaries }
            let dictionaries =
                known ?? UserDictionaries(UserFolder(store: limit.store, name: name), limit: limit)
            users = users.suffix(Self.usersMax - 1) + [(name, dictionaries)]
            return dictionaries
        }
    }
}
