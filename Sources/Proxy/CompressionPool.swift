internal import Dispatch
internal import Synchronization

/// Where large bodies are compared, hashed and compressed: serial queues beside the loops, one a core.
///
/// Serial ones, since a blocked concurrent queue makes Dispatch start thread after thread. Bounded: a job that
/// finds no place is refused at once, and its answer goes out in a cheaper way instead of late.
package final class CompressionPool: Sendable {
    private let queues: [DispatchQueue]
    private let waitingMax: Int
    private let waiting = Atomic<Int>(0)
    private let next = Atomic<Int>(0)

    /// A pool of so many queues, with so many jobs at a time under way or waiting.
    package init(width: Int, waitingMax: Int) {
        queues = (0..<max(1, width)).map { DispatchQueue(label: "dictum.compression.\($0)") }
        self.waitingMax = waitingMax
    }

    /// Runs `job` on one of the queues; false when there is no place for it.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= waitingMax else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        let turn = Int(
            UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).newValue) % UInt(queues.count))
        queues[turn].async { [self] in
            job()
            waiting.wrappingSubtract(1, ordering: .relaxed)
        }
        return true
    }
}
