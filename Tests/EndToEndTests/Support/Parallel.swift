internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport

/// Runs a job for each number on a thread of its own, and returns when all have ended; throws the first error, or that one has
/// not ended in ten minutes.
func inParallel(_ numbers: Range<Int>, _ job: @escaping @Sendable (Int) throws -> Void) throws {
    let failures = Guarded<[any Error]>([])
    let done = numbers.map { _ in Gate() }
    for (place, number) in numbers.enumerated() {
        Thread.detachNewThread {
            do { try job(number) } catch { failures.withLock { $0.append(error) } }
            done[place].open()
        }
    }
    let haveEnded = done.allSatisfy { $0.wait(seconds: 600) }
    if let failure = failures.withLock({ $0.first }) { throw failure }
    if !haveEnded { throw NotInTime(description: "not in time: the end of each job") }
}
