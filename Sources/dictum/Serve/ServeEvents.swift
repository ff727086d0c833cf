internal import Dictionaries
internal import Dispatch
internal import Foundation

/// What happens to a running `serve`, one after the other: signals, and news of a successor.
///
/// Safe from any thread.
final class ServeEvents: Sendable {
    /// One of them.
    enum Event: Sendable {
        case signal(Signals.Request)
        case successor(Successor.Outcome)
    }

    private let waiting = Guarded<[Event]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Takes the signals that are blocked from now on.
    func takeSignals() {
        Thread.detachNewThread { [self] in
            while true { post(.signal(Signals.wait())) }
        }
    }

    /// Adds one.
    func post(_ event: Event) {
        waiting.withLock { $0.append(event) }
        count.signal()
    }

    /// Waits for the next.
    func next() -> Event {
        while true {
            count.wait()
            if let event = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
        }
    }
}
