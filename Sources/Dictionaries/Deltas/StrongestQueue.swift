internal import Dispatch
internal import Glibc
internal import Synchronization

/// One thread for work that may take long and that nobody waits for; what finds no place is dropped.
final class StrongestQueue: Sendable {
    /// How much may wait.
    static let waitingMax = 64

    // Linux gives the threads of all Dispatch priorities the same share of the processors, but those of the background
    // serve it alone: the job itself makes its thread as nice as can be.
    private let queue = DispatchQueue(label: "dictum.strongest", qos: .background)
    private let waiting = Atomic<Int>(0)

    /// Runs `job` after those that wait; false if there is no place.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).oldValue < Self.waitingMax else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        queue.async { [self] in
            waiting.wrappingSubtract(1, ordering: .relaxed)
            // On Linux 0 is the calling thread. A refusal costs nothing but the courtesy.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            job()
        }
        return true
    }
}
