internal import Primitives
internal import Storage

/// Makes purges of orders, which an operator gives, an upstream that logs a user out, or another node.
///
/// `DictionaryStore.purge` carries them out on this node; `SharedMemory` tells the other nodes. Safe from any thread.
final class PurgeMaker: Sendable {
    let store: DictionaryStore
    private let routes = Guarded<CurrentRoutes?>(nil)

    init(store: DictionaryStore) { self.store = store }

    /// Goes by other routes from now on.
    func adopt(_ current: CurrentRoutes) { routes.withLock { $0 = current } }

    /// Makes an order one that the store carries out, by the routes of this node.
    func makePurge(of order: PurgeOrder, rankMax: Int64 = .max, isFormer: Bool = false) -> Purge {
        Purge(order, rankMax: rankMax, isFormer: isFormer, routes: routes.withLock { $0 })
    }
}
