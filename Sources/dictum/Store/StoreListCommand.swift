internal import ArgumentParser
internal import Dictionaries
internal import Storage

struct StoreListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the chains, or the versions in them.",
        discussion: """
            USED tells whether a configured route would create the versions: others are kept but not used. Without a \
            configuration, it shows a question mark.
            """, aliases: ["ls"])

    @OptionGroup var store: AnyStoreOptions
    @OptionGroup var conditions: ConditionOptions

    @Flag(help: "Print one line per version, the newest of a chain first, instead of one per chain.")
    var versions = false

    @Flag(help: "Print the list as JSON.")
    var json = false

    private struct Report: Encodable {
        var chains: [ChainEntry]?
        var versions: [VersionEntry]?
        let `private`: StoreCatalogue.Hidden
    }

    func validate() throws {
        guard !store.shared || !versions else {
            throw ValidationError("--versions needs the store of one proxy: leave out --shared")
        }
    }

    func run() throws {
        if store.shared { return try store.useShared(isJSON: json) { try $0.list(conditions) } }
        try store.own.source.use { opened in
            let isCurrent = opened.isCurrent
            let found = try opened.versions(conditions)
            let hidden = try opened.catalogue.hidden()
            let chains = found.byChain.map { ChainEntry($0, isCurrent: isCurrent) }
            let summary = Self.summary(chains, hidden)
            if versions {
                let entries = found.byChain.flatMap { $0.reversed() }.map {
                    VersionEntry($0, isCurrent: isCurrent)
                }
                try StandardOutput.write(
                    Report(versions: entries, private: hidden), isJSON: json, entries.map(\.cells),
                    under: VersionEntry.title, summary)
            } else {
                try StandardOutput.write(
                    Report(chains: chains, private: hidden), isJSON: json, chains.map(\.cells),
                    under: ChainEntry.title, summary)
            }
        }
    }

    private static func summary(_ entries: [ChainEntry], _ hidden: StoreCatalogue.Hidden) -> String {
        let versions = entries.reduce(0) { $0 + $1.versions }
        let bytes = entries.reduce(0) { $0 + $1.bytes }
        let all =
            "\(OutputFormat.count(entries.count, "chain")), \(OutputFormat.count(versions, "version")), "
            + OutputFormat.size(bytes)
        guard hidden.chains > 0 else { return all }
        return all + "; not listed: \(OutputFormat.count(hidden.chains, "private chain")) with "
            + OutputFormat.count(hidden.versions, "version")
    }
}
