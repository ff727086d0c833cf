internal import Dispatch

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
