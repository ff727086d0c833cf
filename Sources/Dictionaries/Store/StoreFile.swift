internal import FoundationEssentials

/// The files of a database, as the file system sees them.
enum StoreFile {
    /// Renames database and log to a name with the date, so that nothing is lost; nil if that failed.
    static func setAside(_ path: String) -> String? {
        let date = Date.now.formatted(.iso8601.timeSeparator(.omitted))
        let files = FileManager.default
        var target = "\(path).damaged-\(date)"
        var attempt = 1
        while files.fileExists(atPath: target) {
            attempt += 1
            target = "\(path).damaged-\(date)-\(attempt)"
        }
        do {
            try files.moveItem(atPath: path, toPath: target)
        } catch {
            return nil
        }
        for suffix in ["-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
            try? files.moveItem(atPath: path + suffix, toPath: target + suffix)
        }
        return target
    }
}
