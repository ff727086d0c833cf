internal import ArgumentParser
internal import Dictionaries
internal import Storage

/// `dictum store rm`: removes versions or chains.
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

    @Argument(
        help:
            "Digests: the first hexadecimal digits, at least four, or whole digests in base64, with or without colons.",
        transform: DigestArgument.init(argument:))
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
        try store.own.use { opened in
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
        let hosts = Set(versions.map(\.chainKey.authority)).sorted()
        guard all || conditions.host != nil || hosts.count == 1 else {
            throw CommandError(
                "versions of \(hosts.count) hosts have \(conditions.text); choose one with --host: "
                    + hosts.prefix(8).joined(separator: ", ") + (hosts.count > 8 ? ", …" : ""))
        }
        return versions
    }
}

/// Removes versions and reports them.
struct StoreRemoval {
    let isDryRun: Bool
    let isJSON: Bool
    /// True to keep versions that clients have wanted since the command read them.
    var sparesWanted = false

    private struct Report: Encodable {
        struct Entry: Encodable {
            let sha256: String
            let authority: String
            let url: String
            let bytes: Int
            let cause: String?
        }
        let dryRun: Bool
        let removedVersions: Int
        let removedBytes: Int
        let versions: [Entry]
    }

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
        let written = Result { try StandardOutput.write(isJSON ? json(removed, why) : text(removed, why)) }
        try outcome.get()
        try written.get()
    }

    private func json(_ removed: [Version], _ why: (Version) -> String?) -> String {
        OutputFormat.json(
            Report(
                dryRun: isDryRun, removedVersions: removed.count,
                removedBytes: removed.reduce(0) { $0 + $1.bytes },
                versions: removed.map {
                    .init(
                        sha256: $0.digest.hex, authority: $0.chainKey.authority, url: $0.url, bytes: $0.bytes,
                        cause: why($0))
                }))
    }

    private func text(_ removed: [Version], _ why: (Version) -> String?) -> String {
        let sum =
            "\(OutputFormat.count(removed.count, "version")) \(isDryRun ? "would be removed" : "removed"), "
            + OutputFormat.size(removed.reduce(0) { $0 + $1.bytes })
        guard !removed.isEmpty else { return sum }
        let rows = removed.map { version in
            [
                String(version.digest.hex.prefix(16)), version.chainKey.authority + version.url,
                OutputFormat.size(version.bytes), why(version),
            ].compactMap(\.self)
        }
        return OutputFormat.table(rows) + "\n" + sum
    }
}
