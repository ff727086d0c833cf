internal import Dispatch
internal import Glibc
internal import Synchronization

/// A delta that is to be coded once more, as strongly as its coding can.
package struct StrongestPass: Sendable {
    /// The largest body and dictionary: larger ones take seconds, and their live deltas are good.
    package static let bytesMax = 1 << 20

    package let key: DeltaKey
    /// Returns body and dictionary when the pass begins; nil if the body is no longer current or either is not in
    /// memory.
    ///
    /// They are requested only then, so that a waiting pass holds no bodies.
    package let inputs: @Sendable () -> (body: Body, dictionary: Body)?
    /// Runs work that takes so many bytes of memory; returns false, without running it, if there is no memory.
    package let withMemory: @Sendable (Int, () -> Void) -> Bool
    /// Called for a delta that does not decode to the body.
    package let onInexact: @Sendable () -> Void

    package init(
        key: DeltaKey, inputs: @escaping @Sendable () -> (body: Body, dictionary: Body)?,
        withMemory: @escaping @Sendable (Int, () -> Void) -> Bool, onInexact: @escaping @Sendable () -> Void
    ) {
        self.key = key
        self.inputs = inputs
        self.withMemory = withMemory
        self.onInexact = onInexact
    }

    /// The end of a pass.
    package enum End: String, Sendable, CaseIterable {
        /// The strongest delta is shorter and replaced the former.
        case replaced
        /// The former delta is as short.
        case kept
        /// The body has changed since, or the delta was evicted.
        case stale
        /// The delta could not be made, or was not exact.
        case failed
        /// The queue was full, or there was no memory.
        case dropped
    }
}

/// A thread for long background work; work beyond `waitingMax` is dropped.
final class StrongestQueue: Sendable {
    /// The maximum number of waiting jobs.
    static let waitingMax = 64

    // On Linux, threads of all Dispatch priorities get the same share of the processors, but one thread alone
    // serves the background priority. So the job itself lowers the priority of its thread as far as possible.
    private let queue = DispatchQueue(label: "dictum.strongest", qos: .background)
    private let waiting = Atomic<Int>(0)

    /// Runs `job` after those that wait; returns false if the queue is full.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
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
