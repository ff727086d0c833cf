internal import Dispatch

/// One indexing under way, for those who wait for it.
final class PreparedFlight: Sendable {
    private let landed = DispatchGroup()
    private let result = Guarded<PreparedDictionary?>(nil)

    init() {
        landed.enter()
    }

    /// Ends the wait of everybody; once.
    func land(_ prepared: PreparedDictionary?) {
        result.withLock { $0 = prepared }
        landed.leave()
    }

    /// Waits for what came of it; nil if nothing did.
    ///
    /// Blocks, so not on an event loop.
    func wait() -> PreparedDictionary? {
        landed.wait()
        return result.withLock { $0 }
    }
}
