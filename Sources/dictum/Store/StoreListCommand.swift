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

    private struct Report<Entry: Encodable>: Encodable {
        let chains: [Entry]?
        let versions: [Entry]?
        let `private`: StoreCatalogue.Hidden
    }

    func run() throws {
        if store.shared { return try store.useShared(isJSON: json) { try $0.list(conditions) } }
        try store.own.use { opened in
            let isCurrent = opened.isCurrent
            let found = try opened.versions(conditions)
            let hidden = try opened.catalogue.hidden()
            let entries = found.byChain.map { ChainEntry($0, isCurrent: isCurrent) }
            if versions {
                let list = found.byChain.flatMap { $0.reversed() }.map {
                    VersionEntry($0, isCurrent: isCurrent)
                }
                try print(list, VersionEntry.title, list.map(\.cells), hidden)
            } else {
                try print(entries, ChainEntry.title, entries.map(\.cells), hidden)
            }
            if !json { try StandardOutput.write(Self.summary(entries, hidden)) }
        }
    }

    private func print<Entry: Encodable>(
        _ entries: [Entry], _ title: [String], _ cells: [[String]], _ hidden: StoreCatalogue.Hidden
    ) throws {
        if json {
            let report = Report(
                chains: versions ? nil : entries, versions: versions ? entries : nil, private: hidden)
            try StandardOutput.write(OutputFormat.json(report))
        } else if !entries.isEmpty {
            try StandardOutput.write(OutputFormat.table([title] + cells))
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
