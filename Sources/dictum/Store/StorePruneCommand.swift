internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy

/// `dictum store prune`: removes versions that are too old or exceed the limits.
struct StorePruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes versions that are past max_age or exceed the limits of the configuration.",
        discussion: """
            A proxy does this by itself over time and when it needs space. This command does it now and returns the \
            space to the file system. The order is the same: versions that nobody has wanted again go first, the newest \
            versions last. Versions that are wanted in the meantime stay, and so do versions that Links name.
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        help: ArgumentHelp(
            "Also remove versions that were not wanted for this time, such as 7d.", valueName: "duration"))
    var olderThan: String?

    @Flag(help: "Also remove versions that no configured route would create.")
    var unusedRoutes = false

    @Flag(help: "Report what would be removed, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print the removed versions as JSON.")
    var json = false

    func validate() throws {
        guard olderThan == nil || seconds != nil else {
            throw ValidationError("--older-than: expected a duration such as 90s, 12h or 7d")
        }
        guard !unusedRoutes || store.config != nil else {
            throw ValidationError("--unused-routes needs --config, which names the routes")
        }
    }

    private var seconds: Int? { olderThan.flatMap(DurationText.seconds) }

    func run() throws {
        try store.use { opened in
            let pruning = StorePruning(
                now: Int(Date.now.timeIntervalSince1970), olderThanSeconds: seconds,
                removesUnusedRoutes: unusedRoutes, configuration: opened.configuration)
            let victims = pruning.victims(
                among: try opened.catalogue.versions(), usedBytes: try opened.catalogue.usedBytes())
            let causes = Dictionary(victims.map { ($0.version.id, $0.cause.rawValue) }) { first, _ in first }
            try StoreRemoval(isDryRun: dryRun, isJSON: json, sparesWanted: true).remove(
                victims.map(\.version), from: opened.catalogue, why: { causes[$0.id] })
        }
    }
}
