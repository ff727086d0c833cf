internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage

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

/// The choice of the versions that `store prune` removes, as a pure function.
struct StorePruning {
    /// The reason to remove a version.
    enum Cause: String, Encodable {
        case age, versions, route, chains, size
    }

    /// The time in seconds since 1970.
    let now: Int
    /// The age above which versions are removed, regardless of their routes.
    var olderThanSeconds: Int?
    /// True to remove versions that no configured route would create.
    var removesUnusedRoutes = false
    /// The routes and limits; nil without a configuration.
    var configuration: Configuration?

    /// Returns the versions to remove; `versions` are grouped by chain, oldest first.
    ///
    /// Versions that a Link may name stay, since a browser may be about to fetch them. `usedBytes` is the current
    /// size of the files.
    func victims(among versions: [Version], usedBytes: Int) -> [(version: Version, cause: Cause)] {
        let routes = configuration.map { CurrentRoutes($0) }
        var victims: [(version: Version, cause: Cause)] = []
        var kept: [Version] = []
        var newer: [ChainKey: Int] = [:]
        for version in versions.reversed() {
            let newerCount = newer[version.chainKey, default: 0]
            if let cause = cause(of: version, newerCount: newerCount, routes) {
                victims.append((version, cause))
            } else {
                newer[version.chainKey] = newerCount + 1
                kept.append(version)
            }
        }
        return victims
            + beyondLimits(kept, usedBytes: usedBytes - victims.reduce(0) { $0 + $1.version.bytes })
    }

    /// Returns why a version goes when its chain has `newerCount` newer ones, regardless of the store's limits; nil if
    /// it stays.
    private func cause(of version: Version, newerCount: Int, _ routes: CurrentRoutes?) -> Cause? {
        if version.isPinned(at: now) { return nil }
        let policy = routes?.policy(for: version)
        let maxAge = min(version.maxAge, policy.map { $0.maxAge / 1000 } ?? .max)
        if isOld(version, maxAge: maxAge) { return .age }
        if removesUnusedRoutes, routes != nil, policy == nil { return .route }
        if let policy, newerCount >= policy.versions { return .versions }
        return nil
    }

    private func isOld(_ version: Version, maxAge: Int) -> Bool {
        if now - version.lastWanted >= maxAge { return true }
        return olderThanSeconds.map { now - version.lastWanted >= $0 } ?? false
    }

    /// Returns the chains beyond `max_chains` and the versions beyond `max_size`, in the proxy's order of
    /// eviction.
    private func beyondLimits(_ versions: [Version], usedBytes: Int) -> [(version: Version, cause: Cause)] {
        guard let store = configuration?.store else { return [] }
        let surplus = max(0, Set(versions.map(\.chainKey)).count - store.maxChains)
        let chains = StoreCatalogue.chainsInOrderOfEviction(versions, now: now).prefix(surplus)
        var victims: [(version: Version, cause: Cause)] = chains.joined().map { ($0, .chains) }
        let gone = Set(victims.map(\.version.id))
        var excess = usedBytes - store.maxSize - victims.reduce(0) { $0 + $1.version.bytes }
        let rest = versions.filter { !gone.contains($0.id) }
        for version in StoreCatalogue.versionsInOrderOfEviction(rest, now: now) where excess > 0 {
            victims.append((version, .size))
            excess -= version.bytes
        }
        return victims
    }
}
