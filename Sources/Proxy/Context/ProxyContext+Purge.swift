internal import Dispatch
internal import Primitives
internal import Storage

extension ProxyContext {
    /// Removes versions on this node, from the shared store and on the other nodes; with `isDryRun` finds those of this
    /// node only.
    ///
    /// Blocks: never call it on an event loop.
    func purge(_ order: PurgeOrder, isDryRun: Bool = false) -> PurgeReport {
        let purged = purgeHere(order, isDryRun: isDryRun)
        return PurgeReport(
            purged, isDryRun: isDryRun,
            othersTold: isDryRun ? nil : sharedStore?.tellAndWait(order, removed: purged.versions))
    }

    private func purgeHere(_ order: PurgeOrder, isDryRun: Bool = false) -> Purged {
        store.upkeep.purge([Purge(order, routes: shared.currentRoutes.withLock { $0 })], isDryRun: isDryRun)
    }

    /// Returns the owner that a user is on each private route whose identity has these items, and no others.
    func owners(_ user: [String: String], authority: String) -> [IdentityTag] {
        guard let keys = store.keys else { return [] }
        return routes.privateRoutes.compactMap { route in
            route.identity?.values(of: user).flatMap { keys.identityTag(authority: authority, items: $0) }
        }
    }

    /// Removes the versions of users on private routes, soon.
    func forget(_ owners: [IdentityTag]) {
        guard shared.leavingUsers.withLock({ $0.add(owners) }) else { return }
        shared.maintenance.asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in forgetLeavingUsers() }
    }

    /// Removes the versions of the users that wait for it; with `isLast` waits until the shared store has the order.
    ///
    /// Otherwise it has other work of its queue wait for the disk only, however slow the shared store is. Blocks: never call it on
    /// an event loop.
    func forgetLeavingUsers(isLast: Bool = false) {
        let owners = shared.leavingUsers.withLock { $0.take() }
        guard !owners.isEmpty else { return }
        let order = PurgeOrder(owners: owners)
        let versions = purgeHere(order).versions
        if isLast {
            _ = sharedStore?.tellAndWait(order, removed: versions)
        } else {
            sharedStore?.tell(order, removed: versions)
        }
    }
}

/// The users whose versions wait to be removed; a pure value.
///
/// Many log-outs in a short time cost one visit of the store.
struct LeavingUsers: Sendable {
    private var owners: Set<IdentityTag> = []

    /// Adds users; returns true if the caller must schedule a removal.
    mutating func add(_ some: [IdentityTag]) -> Bool {
        defer { owners.formUnion(some) }
        return owners.isEmpty && !some.isEmpty
    }

    mutating func take() -> Set<IdentityTag> { exchange(&owners, with: []) }
}

/// The response to `/purge`.
package struct PurgeReport: Codable, Equatable, Sendable {
    package let dryRun: Bool
    package let removedVersions: Int
    /// Of those, the versions of private routes and of personal responses.
    package let removedPersonalVersions: Int
    package let removedBytes: Int
    /// True if their bytes on disk are overwritten, false if the disk fails or another process has yet to do it; nil if nothing was
    /// done.
    package let erased: Bool?
    /// True if the nodes that share the store were told; nil without `store.shared`, or if nothing was done.
    package let otherNodesTold: Bool?

    init(_ purged: Purged, isDryRun: Bool, othersTold: Bool?) {
        dryRun = isDryRun
        removedVersions = purged.versions.count
        removedPersonalVersions = purged.versions.count { $0.chainKey.scope.isSealed }
        removedBytes = purged.versions.reduce(0) { $0 + $1.bytes }
        erased = isDryRun ? nil : purged.areErased
        otherNodesTold = othersTold
    }
}
