internal import Dispatch
internal import Synchronization

/// Compares, hashes and compresses large bodies on one serial queue per core.
///
/// The queues are serial because Dispatch starts more and more threads for a blocked concurrent queue. The bytes that
/// wait are bounded: a job without a place is refused at once, and its response gets a cheaper coding instead of a
/// delay.
package final class CompressionPool: Sendable {
    fileprivate final class Lane: Sendable {
        let queue: DispatchQueue
        /// The bytes of the bodies that wait or are in work.
        let bytes = Atomic<Int>(0)

        init(_ index: Int) {
            queue = DispatchQueue(label: "dictum.compression.\(index)")
        }
    }

    /// The bound of one queue: a fifth of a second for the slowest usual coding.
    ///
    /// An empty queue accepts a single larger body.
    private static let laneBytesMax = 16 << 20

    /// The least size that a job counts as, so that the number of jobs is bounded too.
    private static let jobBytesMin = 64 << 10

    private let lanes: [Lane]

    /// Creates a pool of `width` queues.
    package init(width: Int) {
        lanes = (0..<max(1, width)).map(Lane.init)
    }

    /// The bytes of all bodies that wait or are in work.
    var waitingBytes: Int { lanes.reduce(0) { $0 + $1.waitingBytes } }

    /// Runs `job` on the queue with the least work; returns false if the pool is full and the job not promised.
    ///
    /// - Parameter bytes: the size of the body, plus that of a dictionary to be indexed.
    func submit(bytes: Int, isPromised: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        let bytes = max(bytes, Self.jobBytesMin)
        guard let lane = lanes.min(by: { $0.waitingBytes < $1.waitingBytes }) else { return false }
        let waiting = lane.bytes.wrappingAdd(bytes, ordering: .relaxed).oldValue
        guard isPromised || waiting == 0 || waiting + bytes <= Self.laneBytesMax else {
            lane.bytes.wrappingSubtract(bytes, ordering: .relaxed)
            return false
        }
        lane.queue.async {
            job()
            lane.bytes.wrappingSubtract(bytes, ordering: .relaxed)
        }
        return true
    }
}

extension CompressionPool.Lane {
    fileprivate var waitingBytes: Int { bytes.load(ordering: .relaxed) }
}
