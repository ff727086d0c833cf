internal import Dispatch
internal import Synchronization

/// Where large bodies are compared, hashed and compressed: lanes beside the loops, one a core.
///
/// A lane is a serial queue, since a blocked concurrent queue makes Dispatch start thread after thread. Bounded in
/// the bytes that wait: a job that finds no place is refused at once, and its answer goes out in a cheaper way
/// instead of late.
package final class CompressionPool: Sendable {
    fileprivate final class Lane: Sendable {
        let queue: DispatchQueue
        /// The bytes of the bodies that wait or are worked on.
        let bytes = Atomic<Int>(0)

        init(_ index: Int) {
            queue = DispatchQueue(label: "dictum.compression.\(index)")
        }
    }

    /// What may wait in one lane: a fifth of a second for the slowest of the usual codings.
    ///
    /// A single larger body finds a place where nothing else waits.
    private static let laneBytesMax = 16 << 20

    /// What a job counts at least, so that the number of those that wait is bounded, too.
    private static let jobBytesMin = 64 << 10

    private let lanes: [Lane]

    /// A pool of so many lanes.
    package init(width: Int) {
        lanes = (0..<max(1, width)).map(Lane.init)
    }

    /// The bytes of all that waits or is worked on.
    var waitingBytes: Int { lanes.reduce(0) { $0 + $1.waitingBytes } }

    /// Runs `job`, which works on a body of so many bytes (those of a dictionary that is
    /// to be indexed included), in the lane with the least to do; false when there is
    /// no place for it, unless it `isPromised`.
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
