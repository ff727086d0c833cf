internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy

/// `dictum store prune`: removes versions that are too old or exceed the limits.
struct StorePruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes what is past its max_age, or beyond the limits of the configuration.",
        discussion: """
            A proxy does so by itself as time goes on and room is needed; this does it now, and gives the room back to \
            the disk, in the same order: what nobody has asked for again first, the newest versions last. Versions \
            that were wanted meanwhile stay, and those that Links name.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("Also what was not wanted for so long, such as 7d.", valueName: "duration"))
    var olderThan: String?

    @Flag(help: "Also what no route of the configuration would make, and is not used therefore.")
    var unusedRoutes = false

    @Flag(help: "Say what would go, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print what went, or would go, as JSON.")
    var json = false

    func validate() throws {
        guard olderThan == nil || seconds != nil else {
            throw ValidationError("--older-than is a duration such as 90s, 12h or 7d")
        }
        guard !unusedRoutes || store.config != nil else {
            throw ValidationError("--unused-routes goes with --config, which has the routes")
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
