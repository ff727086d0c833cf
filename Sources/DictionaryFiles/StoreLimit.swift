/// The bound of a store: all that it keeps for all its users together.
///
/// It looks at the names, sizes and times of files, whichever process wrote them, and reads none of them.
struct StoreLimit: Sendable {
    private static let countMax = 1_000
    /// Half a dictionary may belong to another process that is about to write the rest.
    private static let halfNanoseconds: Int64 = 60_000_000_000
    private static let kinds = [
        DictionaryFolder.recordExtension, DictionaryFolder.bodyExtension, FolderFiles.temporaryExtension,
    ]

    let store: FolderFiles
    let bytesMax: Int

    /// A dictionary, or the folder of a user without any.
    private struct Entry {
        var bytes = 0
        var usedAt: Int64
        let remove: () -> Void
    }

    /// Removes what was used least recently, of whichever user, until the rest is within the limit.
    ///
    /// Also removes what killed processes have left.
    func apply() {
        let now = FileStatus.now
        removeLeftovers(at: now)
        // The clock was set back since a time that is in the future, which says nothing. The next minute does not count: another
        // process may have used a dictionary just now.
        let end = now + Self.halfNanoseconds
        let oldest = users.flatMap { entries(of: $0, at: now) }
            .sorted { ($0.usedAt > end ? 0 : $0.usedAt) < ($1.usedAt > end ? 0 : $1.usedAt) }
        var bytes = oldest.reduce(0) { $0 + $1.bytes }
        for (index, entry) in oldest.enumerated() {
            if bytes <= bytesMax, oldest.count - index <= Self.countMax { return }
            bytes -= entry.bytes
            entry.remove()
        }
    }

    /// All users of all processes; no name of theirs has a dot, and folders of others have no generation.
    var users: [UserFolder] {
        (store.list() ?? []).filter { !$0.contains(".") }.map { UserFolder(store: store, name: $0) }
            .filter { $0.generation != nil }
    }

    private func removeLeftovers(at now: Int64) {
        for name in store.list() ?? [] {
            let isUnfinished = name.hasSuffix(FolderFiles.temporaryExtension) && isOld(store, name, at: now)
            if isUnfinished || name.hasSuffix(UserFolder.removedExtension) { store.remove(name) }
        }
    }

    private func entries(of user: UserFolder, at now: Int64) -> [Entry] {
        guard let generation = user.generation else { return [] }
        let files = user.dictionaries(of: generation).files
        guard let status = files.status(), let fileNames = files.list() else { return [] }
        var found: [Substring: [(fileName: String, status: FileStatus)]] = [:]
        for fileName in fileNames {
            guard let kind = Self.kinds.first(where: fileName.hasSuffix),
                let status = files.status(of: fileName)
            else { continue }
            found[fileName.dropLast(kind.count), default: []].append((fileName, status))
        }
        let entries = found.values.compactMap { parts -> Entry? in
            let entry = Entry(
                bytes: parts.reduce(0) { $0 + $1.status.bytes },
                usedAt: parts.map(\.status.changedAt).max() ?? 0,
                remove: { for part in parts { files.remove(part.fileName) } })
            guard parts.count < 2, isOld(files, parts[0].fileName, at: now) else { return entry }
            entry.remove()
            return nil
        }
        return entries.isEmpty ? [Entry(usedAt: status.changedAt, remove: user.remove)] : entries
    }

    private func isOld(_ files: FolderFiles, _ name: String, at now: Int64) -> Bool {
        files.status(of: name).map { now - $0.changedAt > Self.halfNanoseconds } ?? false
    }
}
