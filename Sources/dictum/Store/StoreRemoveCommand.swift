internal import ArgumentParser
internal import Dictionaries

/// `dictum store rm`: removes versions or chains.
struct StoreRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Removes versions or chains; a running proxy stops using them within a second.",
        discussion: """
            Later responses of the upstream are admitted again. The removed bytes are overwritten in the database, or \
            the file is truncated. Versions that Links name are removed too.
            """)

    @Argument(
        help:
            "Digests: the first hexadecimal digits, at least four, or whole digests in base64, with or without colons.",
        transform: DigestArgument.init(argument:))
    var digests: [DigestArgument] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var chains: ChainOptions

    @Flag(help: "Remove everything except the versions of private routes.")
    var all = false

    @Flag(help: "Report what would be removed, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print the removed versions as JSON.")
    var json = false

    func validate() throws {
        guard [!digests.isEmpty, chains.isGiven, all].count(where: { $0 }) == 1 else {
            throw ValidationError("expected digests, or --chain, --authority or both, or --all")
        }
    }

    func run() throws {
        try store.use { opened in
            let versions = try digests.isEmpty ? chosen(opened.catalogue) : named(opened)
            try StoreRemoval(isDryRun: dryRun, isJSON: json).remove(versions, from: opened.catalogue)
        }
    }

    private func named(_ opened: OpenedStore) throws -> [Version] {
        var seen: Set<Int64> = []
        return try digests.flatMap { try opened.versions($0) }.filter { seen.insert($0.id).inserted }
    }

    private func chosen(_ catalogue: StoreCatalogue) throws -> [Version] {
        let versions = try catalogue.versions().filter { chains.includes($0.chainKey) }
        guard !versions.isEmpty || all else {
            throw StoreFailure(
                "no chain in \(catalog.path) has \(chains.text); `dictum store list` lists all")
        }
        let authorities = Set(versions.map(\.chainKey.authority)).sorted()
        guard all || chains.authority != nil || authorities.count == 1 else {
            throw StoreFailure(
                "chains of \(authorities.count) authorities have \(chains.text); choose one with --authority: "
                    + authorities.prefix(8).joined(separator: ", ") + (authorities.count > 8 ? ", …" : ""))
        }
        return versions
    }
}
