import Foundation
import Primitives

@testable import Dictionaries

/// The largest sizes of database and log, sampled without a pause on a thread of its own.
final class FileSizeSampler: Sendable {
    struct Sizes {
        var file = 0
        var log = 0
    }

    private let largest = Guarded(Sizes())
    private let isOver = Guarded(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ path: String) {
        Thread.detachNewThread { [largest, isOver, done] in
            while !isOver.withLock({ $0 }) {
                let (file, log) = (Self.size(path), Self.size(path + "-wal"))
                largest.withLock { largest in
                    largest.file = max(largest.file, file)
                    largest.log = max(largest.log, log)
                }
            }
            done.signal()
        }
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Stops the thread and returns the largest sizes.
    func stop() -> Sizes {
        isOver.withLock { $0 = true }
        done.wait()
        return largest.withLock { $0 }
    }
}
