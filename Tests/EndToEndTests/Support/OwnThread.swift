internal import Foundation

/// Runs what blocks for long on a thread of its own, so that other tests have theirs; throws what it throws.
///
/// An expectation in it would belong to no test: let it throw, or return what is to be expected.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
