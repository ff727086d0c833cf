internal import Dispatch
internal import Primitives
internal import Synchronization

/// Compares, hashes and compresses large bodies on one serial queue per core, and whatever the clients with many requests
/// under way ask for on as many others, so that nobody else waits behind them.
///
/// The queues are serial because Dispatch starts more and more threads for a blocked concurrent queue. The bytes that
/// wait are bounded: a job without a place is refused at once, and its response gets a cheaper coding instead of a delay.
final class CompressionPool: Sendable {
    fileprivate final class Queue: Sendable {
        let serial: DispatchQueue
        /// The bytes of the bodies that wait or are in work.
        let bytes = Atomic<Int>(0)
        var waitingBytes: Int { bytes.load(ordering: .relaxed) }

        init(_ label: String) { serial = DispatchQueue(label: label) }
    }

    /// The bound of one queue: a fifth of a second for the slowest usual coding.
    ///
    /// An empty queue accepts a single larger body.
    private static let queueBytesMax = 16 << 20

    /// The least size that a job counts as, so that the number of jobs is bounded too.
    private static let jobBytesMin = 64 << 10

    private let queues, crowdedQueues: [Queue]

    /// Creates a pool of `width` queues of each kind.
    init(width: Int) {
        queues = (0..<max(1, width)).map { Queue("dictum.compression.\($0)") }
        crowdedQueues = (0..<max(1, width)).map { Queue("dictum.compression.crowded.\($0)") }
    }

    var waitingBytes: Int { Self.waitingBytes(of: queues) + Self.waitingBytes(of: crowdedQueues) }

    private static func waitingBytes(of queues: [Queue]) -> Int { queues.reduce(0) { $0 + $1.waitingBytes } }

    /// Runs `job` on the queue with the least work; returns false if the pool is full, or the client's share is used up, and
    /// the job need not run.
    ///
    /// - Parameters:
    ///   - bytes: the size of the body, plus that of a dictionary to be indexed.
    ///   - client: the client that the work is for; nil for none.
    func submit(
        bytes: Int, for client: ClientUse? = nil, mustRun: Bool = false, _ job: @escaping @Sendable () -> Void
    ) -> Bool {
        let bytes = max(bytes, Self.jobBytesMin)
        let queues = client?.isCrowded == true ? crowdedQueues : queues
        guard let queue = queues.min(by: { $0.waitingBytes < $1.waitingBytes }) else { return false }
        let free = queues.count * Self.queueBytesMax - Self.waitingBytes(of: queues)
        let waiting = queue.bytes.wrappingAdd(bytes, ordering: .relaxed).oldValue
        let hasPlace =
            waiting == 0
            || waiting + bytes <= Self.queueBytesMax
                && FairShare.permits(bytes, having: client?.coding.amount ?? 0, free: free)
        guard mustRun || hasPlace else {
            queue.bytes.wrappingSubtract(bytes, ordering: .relaxed)
            return false
        }
        client?.coding.add(bytes)
        queue.serial.async {
            job()
            queue.bytes.wrappingSubtract(bytes, ordering: .relaxed)
            // Held until here, so that a client that connects anew finds its work counted.
            client?.coding.giveBack(bytes)
        }
        return true
    }
}
