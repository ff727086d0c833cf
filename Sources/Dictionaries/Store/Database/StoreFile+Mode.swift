internal import Glibc

extension StoreFile {
    /// Removes the rights of other users from the files of a database.
    ///
    /// Returns true if there were any, and nil if they cannot be removed.
    static func restrict(_ path: String) -> Bool? {
        var wasOpen = false
        for file in [path, path + "-wal", path + "-shm"] {
            // Safe: the text is terminated, and the result has room for what is written.
            var status = stat()
            guard unsafe stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            // Safe: as above.
            guard unsafe chmod(file, status.st_mode & 0o700) == 0 else { return nil }
            wasOpen = true
        }
        return wasOpen
    }
}
