internal import Dispatch
internal import Primitives

/// A point that one thread waits at until another opens it.
package final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// A closed gate.
    package init() {}

    /// Lets one who waits go on.
    package func open() { semaphore.signal() }

    /// Waits until it is opened, at most so long; says whether it was.
    @discardableResult
    package func wait(seconds: Int = 60) -> Bool {
        semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }
}

/// Numbers the calls of a script that many threads run.
package final class CallCounter: Sendable {
    private let count = Guarded(0)

    package init() {}

    /// Returns the number of this call: 1 for the first.
    package func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
