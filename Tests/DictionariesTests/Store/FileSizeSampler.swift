import Foundation

@testable import Dictionaries

/// The largest that the files ever were, looked at without a pause from a thread of its own.
final class FileSizeSampler: Sendable {
    private let largest = Guarded(0)
    private let isOver = Guarded(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ path: String) {
        Thread.detachNewThread { [largest, isOver, done] in
            while !isOver.withLock({ $0 }) {
                let bytes = Self.bytes(path)
                largest.withLock { $0 = max($0, bytes) }
            }
            done.signal()
        }
    }

    /// Database, log and the index over it; 0 if the database changed meanwhile: that sum may never have been.
    private static func bytes(_ path: String) -> Int {
        let before = size(path)
        let log = size(path + "-wal") + size(path + "-shm")
        return size(path) == before ? before + log : 0
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Ends it and gives the largest sum.
    func stop() -> Int {
        isOver.withLock { $0 = true }
        done.wait()
        return largest.withLock { $0 }
    }
}
