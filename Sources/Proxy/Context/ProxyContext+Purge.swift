internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Storage

extension ProxyContext {
    struct PurgeOutcome: Sendable {
        let versions: [Storage.Version]
        /// True if their bytes on disk are overwritten; nil if nothing was done.
        let areErased: Bool?
        /// True if the shared store has the order for the other nodes; nil without one, or if nothing was done.
        let areOthersTold: Bool?
    }

    /// Removes versions on this node, from the shared store and on the other nodes; with `isDryRun` finds those of this
    /// node only.
    ///
    /// Blocks: never call it on an event loop.
    func purge(_ order: PurgeOrder, isDryRun: Bool = false) -> PurgeOutcome {
        let purged = purgeHere(order, isDryRun: isDryRun)
        return PurgeOutcome(
            versions: purged.versions, areErased: isDryRun ? nil : purged.areErased,
            areOthersTold: isDryRun ? nil : sharedMemory?.tellAndWait(order, removed: purged.versions))
    }

    private func purgeHere(_ order: PurgeOrder, isDryRun: Bool = false) -> Purged {
        store.purge([Purge(order, routes: shared.currentRoutes.withLock { $0 })], isDryRun: isDryRun)
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
            _ = sharedMemory?.tellAndWait(order, removed: versions)
        } else {
            sharedMemory?.tell(order, removed: versions)
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
