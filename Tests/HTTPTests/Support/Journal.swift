internal import Dispatch
internal import Primitives

@testable import HTTP

/// The events on a loop, for a test to wait for and to check.
///
/// Only one test thread waits at a time.
final class Journal: Sendable {
    private let lines = Guarded<[String]>([])
    private let changed = DispatchSemaphore(value: 0)

    var all: [String] { lines.withLock { $0 } }

    /// Adds a line; callable from any thread.
    func note(_ line: String) {
        lines.withLock { $0.append(line) }
        changed.signal()
    }

    /// Waits until `isEnough` is true for the lines, at most a minute; returns the lines.
    @discardableResult
    func wait(until isEnough: ([String]) -> Bool) -> [String] {
        let limit = DispatchTime.now() + .seconds(60)
        while !isEnough(all), changed.wait(timeout: limit) == .success {}
        return all
    }

    /// Waits for a line; returns true if it came.
    func wait(for line: String) -> Bool {
        wait { $0.contains(line) }.contains(line)
    }

    /// Waits until nothing has come for a while; returns all lines.
    func settled() -> [String] {
        let limit = DispatchTime.now() + .seconds(60)
        while DispatchTime.now() < limit, changed.wait(timeout: .now() + .milliseconds(150)) == .success {}
        return all
    }
}
