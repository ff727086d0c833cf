internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage

struct StorePruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes versions that are past max_age or exceed the limits of the configuration.",
        discussion: """
            A proxy does this by itself over time and when it needs space. This command does it now and returns the \
            space to the file system, by the same rule. Versions that are wanted in the meantime stay, and so do versions \
            that Links name.
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
        guard !unusedRoutes || store.source.config != nil else {
            throw ValidationError("--unused-routes needs --config, which names the routes")
        }
    }

    private var seconds: Int? { olderThan.flatMap(DurationText.seconds) }

    func run() throws {
        try store.source.use { opened in
            let pruning = StorePruning(
                now: Int(Date.now.timeIntervalSince1970), olderThanSeconds: seconds,
                removesUnusedRoutes: unusedRoutes, configuration: opened.configuration)
            let victims = pruning.victims(
                among: try opened.catalogue.versions(), usedBytes: try opened.catalogue.usedBytes())
            let causes = Dictionary(victims.map { ($0.version.id, $0.cause) }) { first, _ in first }
            try StoreRemoval(isDryRun: dryRun, isJSON: json, sparesWanted: true).remove(
                victims.map(\.version), from: opened.catalogue, why: { causes[$0.id] })
        }
    }
}

/// The choice of the versions that `store prune` removes, as a pure function.
struct StorePruning {
    /// The time in seconds since 1970.
    let now: Int
    /// The age above which versions are removed, regardless of their routes.
    var olderThanSeconds: Int?
    /// True to remove versions that no configured route would create.
    var removesUnusedRoutes = false
    /// The routes and limits; nil without a configuration.
    var configuration: Configuration?

    /// Returns the versions to remove, each with the cause.
    ///
    /// Versions that a Link may name stay, since a browser may be about to fetch them. `usedBytes` is the current
    /// size of the files.
    func victims(among versions: [Version], usedBytes: Int) -> [(version: Version, cause: String)] {
        let routes = configuration.map { RouteTable($0) }
        var victims: [(version: Version, cause: String)] = []
        var kept: [Version] = []
        for version in versions {
            if let cause = cause(of: version, routes) {
                victims.append((version, cause))
            } else {
                kept.append(version)
            }
        }
        guard let store = configuration?.store else { return victims }
        let evictions = StoreCatalogue.evictions(
            among: kept, chainsMax: store.maxChains, bytesMax: store.maxSize,
            usedBytes: usedBytes - victims.reduce(0) { $0 + $1.version.storedBytes }, now: now)
        return victims + evictions.map { (version: $0.version, cause: $0.reason.rawValue) }
    }

    /// Returns why a version goes, regardless of the store's limits; nil if it stays.
    private func cause(of version: Version, _ routes: RouteTable?) -> String? {
        if version.isPinned(at: now) { return nil }
        let maxAge = min(
            version.maxAge, routes?.policy(for: version)?.maxAgeSeconds ?? .max, olderThanSeconds ?? .max)
        if now - version.lastWanted >= maxAge { return "age" }
        return removesUnusedRoutes && routes?.makes(version) == false ? "route" : nil
    }
}
