internal import ArgumentParser
internal import Dictionaries
internal import Storage

struct StoreRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Removes versions or chains; a running proxy stops using them within a second.",
        discussion: """
            Later responses of the upstream are admitted again. The removed bytes are overwritten in the database, or \
            the file is truncated. Versions that Links name are removed too.

            With --shared, versions go from the shared store only, and --all removes every key of its prefix: versions, \
            sealed ones too, and announcements. Each node keeps its own store, and writes what its clients hold to the \
            shared one again: remove it from the nodes' stores first.
            """)

    @Argument(help: DigestArgument.help, transform: DigestArgument.init(argument:))
    var digests: [DigestArgument] = []

    @OptionGroup var store: AnyStoreOptions
    @OptionGroup var conditions: ConditionOptions

    @Flag(help: "Remove everything except the versions of private routes; with --shared, everything.")
    var all = false

    @Flag(help: "Report what would be removed, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print the removed versions as JSON.")
    var json = false

    func validate() throws {
        guard [!digests.isEmpty, !conditions.given.isEmpty, all].count(where: { $0 }) == 1 else {
            throw ValidationError("expected digests, or conditions (--host, --path, --route), or --all")
        }
    }

    func run() throws {
        if store.shared {
            return try store.useShared(isJSON: json) {
                try $0.remove(digests, conditions, isAll: all, isDryRun: dryRun)
            }
        }
        try store.own.source.use { opened in
            let versions = try digests.isEmpty ? chosen(opened) : named(opened)
            try StoreRemoval(isDryRun: dryRun, isJSON: json).remove(versions, from: opened.catalogue)
        }
    }

    private func named(_ opened: OpenedStore) throws -> [Version] {
        var seen: Set<Int64> = []
        return try digests.flatMap { try opened.versions($0) }.filter { seen.insert($0.id).inserted }
    }

    private func chosen(_ opened: OpenedStore) throws -> [Version] {
        let versions = try opened.versions(conditions)
        guard !versions.isEmpty || all else {
            throw CommandError(
                "no version in \(opened.catalogue.path) has \(conditions.text); `dictum store list` lists all"
            )
        }
        if !all { try conditions.requireOneHost(versions.map(\.chainKey.authority)) }
        return versions
    }
}

struct StoreRemoval {
    let isDryRun: Bool
    let isJSON: Bool
    /// True to keep versions that clients have wanted since the command read them.
    var sparesWanted = false

    /// Removes versions, prints one line per version and the total, and returns the space to the file system.
    ///
    /// Versions removed before an error are reported too.
    func remove(
        _ versions: [Version], from catalogue: StoreCatalogue, why: (Version) -> String? = { _ in nil }
    ) throws {
        var removed = isDryRun ? versions : []
        let outcome = Result {
            guard !isDryRun else { return }
            try catalogue.remove(versions, sparingWanted: sparesWanted) { removed += $0 }
            if !removed.isEmpty { try catalogue.shrink() }
        }
        let report = RemovalReport(removed.map { .init($0, cause: why($0)) }, isDryRun: isDryRun)
        let written = Result { try report.write(isJSON: isJSON) }
        try outcome.get()
        try written.get()
    }
}
