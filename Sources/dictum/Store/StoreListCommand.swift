internal import ArgumentParser
internal import Dictionaries
internal import Storage

/// `dictum store list`: lists chains or versions.
struct StoreListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the chains, or the versions in them.",
        discussion: """
            USED tells whether a configured route would create the versions: others are kept but not used. Without a \
            configuration, it shows a question mark.
            """)

    @OptionGroup var store: AnyStoreOptions
    @OptionGroup var conditions: ConditionOptions

    @Flag(help: "Print one line per version, the newest of a chain first, instead of one per chain.")
    var versions = false

    @Flag(help: "Print the list as JSON.")
    var json = false

    private struct Report<Entry: Encodable>: Encodable {
        struct Hidden: Encodable {
            let chains: Int
            let versions: Int
        }
        let chains: [Entry]?
        let versions: [Entry]?
        let `private`: Hidden
    }

    func run() throws {
        if store.shared { return try store.useShared(isJSON: json) { try $0.list(conditions) } }
        try store.own.use { opened in
            let isCurrent = opened.isCurrent
            let found = try opened.versions(conditions)
            let hidden = try opened.catalogue.hidden()
            let entries = ChainEntry.entries(found, isCurrent: isCurrent)
            if versions {
                let list = newestFirst(found).map { VersionEntry($0, isCurrent: isCurrent) }
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
            let counts = Report<Entry>.Hidden(chains: hidden.chains, versions: hidden.versions)
            let report = Report(
                chains: versions ? nil : entries, versions: versions ? entries : nil, private: counts)
            try StandardOutput.write(OutputFormat.json(report))
        } else if !entries.isEmpty {
            try StandardOutput.write(OutputFormat.table([title] + cells))
        }
    }

    private func newestFirst(_ versions: [Version]) -> [Version] {
        var list: [Version] = []
        var rest = versions[...]
        while let first = rest.first {
            let chain = rest.prefix { $0.chainKey == first.chainKey }
            list += chain.reversed()
            rest = rest.dropFirst(chain.count)
        }
        return list
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
