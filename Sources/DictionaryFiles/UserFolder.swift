/// The folder of one user, which has one folder inside: its generation, named by a random number.
///
/// A generation lasts until the user's dictionaries are removed, by whichever process. It has its place in the path of
/// each file, so that a response to an earlier request cannot be kept: its folder is gone, and no check comes too early.
struct UserFolder: Sendable {
    /// The extension of a user's folder that was removed, until all its files are gone.
    static let removedExtension = ".dictum.removed"
    private static let generationExtension = ".dictum"

    let store: FolderFiles
    let name: String

    private var files: FolderFiles { store.folder(name) }

    /// The generation of the user; nil if the user has none, which is so before the first request.
    var generation: Int? {
        (files.list() ?? []).compactMap { name in
            name.hasSuffix(Self.generationExtension)
                ? Int(name.dropLast(Self.generationExtension.count)) : nil
        }.min()
    }

    func dictionaries(of generation: Int) -> DictionaryFolder {
        DictionaryFolder(files: files.folder("\(generation)\(Self.generationExtension)"))
    }

    /// Returns the generation of the user, and begins one if there is none; without a place on the disk it keeps nothing.
    func begin() -> Int {
        if let generation { return generation }
        let new = Int.random(in: 0...Int.max)
        let prepared = UserFolder(store: store, name: FolderFiles.newName(FolderFiles.temporaryExtension))
        try? prepared.dictionaries(of: new).files.create()
        // Of several processes one succeeds: a folder with something inside is not replaced.
        if store.move(prepared.name, to: name) { return new }
        store.remove(prepared.name)
        if let generation { return generation }
        // There are files of others, unless the folder only cannot be read now.
        if files.list() != nil { try? dictionaries(of: new).files.create() }
        return new
    }

    /// Removes all; it is gone at once for all processes, even if this one is killed before the files are.
    func remove() {
        let removed = FolderFiles.newName(Self.removedExtension)
        store.remove(store.move(name, to: removed) ? removed : name)
    }
}
