internal import Dictionaries
internal import Dispatch
internal import Primitives
internal import Storage

/// Makes purges of orders, which an operator gives, an upstream that logs a user out, or another node.
///
/// `DictionaryStore.purge` carries them out on this node; `SharedMemory` tells the other nodes. Safe from any thread.
final class Purger: Sendable {
    let store: DictionaryStore
    /// The routes of the current configuration.
    private let routes = Guarded<CurrentRoutes?>(nil)

    init(store: DictionaryStore) { self.store = store }

    /// Goes by other routes from now on.
    func adopt(_ current: CurrentRoutes) { routes.withLock { $0 = current } }

    /// Makes an order one that the store carries out, by the routes of this node.
    func purge(_ order: PurgeOrder, rankMax: Int64 = .max) -> Purge {
        Purge(order, rankMax: rankMax, routes: routes.withLock { $0 })
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

    mutating func take() -> Set<IdentityTag> {
        defer { owners = [] }
        return owners
    }
}
