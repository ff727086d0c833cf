internal import Dictionaries
internal import Dispatch
internal import Foundation
internal import Glibc

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
            var ends = 0
            while true {
                let request = Signals.wait()
                post(.signal(request))
                guard case .end = request else { continue }
                ends += 1
                if ends == 2 { Self.endInAnyCase() }
            }
        }
    }

    /// Ends the process a little later, whatever else it does by then: nothing that is stuck may keep it.
    private static func endInAnyCase() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: lastSeconds)
            StandardError.write("dictum: stopping took too long: ending without what is left")
            _exit(1)
        }
    }

    /// Enough to store what is pending; a service manager waits longer.
    private static let lastSeconds = 8.0

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
