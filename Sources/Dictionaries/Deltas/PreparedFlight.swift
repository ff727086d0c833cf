internal import Dispatch

/// One indexing under way, with the threads that wait for it.
final class PreparedFlight: Sendable {
    private let landed = DispatchGroup()
    private let result = Guarded<PreparedDictionary?>(nil)

    init() {
        landed.enter()
    }

    /// Ends the wait of all threads; called once.
    func land(_ prepared: PreparedDictionary?) {
        result.withLock { $0 = prepared }
        landed.leave()
    }

    /// Waits for the end of the indexing; returns nil if it failed.
    ///
    /// It blocks, so it is not for event loops.
    func wait() -> PreparedDictionary? {
        landed.wait()
        return result.withLock { $0 }
    }
}
