internal import Dispatch
internal import Glibc
internal import Synchronization

/// A thread for background work, such as measuring and improving deltas; it gives way to all others.
///
/// Work beyond `waitingMax` jobs is refused. Safe from any thread.
package final class BackgroundWorker: Sendable {
    static let waitingMax = 64

    // On Linux, threads of all Dispatch priorities get the same share of the processors, but one thread alone
    // serves the background priority. So the job itself lowers the priority of its thread as far as possible.
    private let queue = DispatchQueue(label: "dictum.background", qos: .background)
    private let waiting = Atomic<Int>(0)

    package init() {}

    /// Runs `job` after those that wait; returns false, without running it, if too many wait.
    package func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).oldValue < Self.waitingMax else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        queue.async { [self] in
            waiting.wrappingSubtract(1, ordering: .relaxed)
            // On Linux, 0 is the calling thread. If the call fails, the thread keeps its priority, which does no
            // harm.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            job()
        }
        return true
    }
}
