internal import Dictionaries
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Primitives

/// The events of a running `serve` in their order: signals, and reports about a successor.
///
/// Safe from any thread.
final class ServeEvents: Sendable {
    enum Event: Sendable {
        case signal(Signals.Request)
        case successor(Successor.Outcome)
    }

    private let waiting = Guarded<[Event]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Turns blocked signals into events from now on.
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

    /// Ends the process after a few seconds even if something is stuck.
    private static func endInAnyCase() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: lastSeconds)
            StandardError.write("dictum: stopping took too long; exiting with work unfinished")
            _exit(1)
        }
    }

    /// Long enough to store what is pending; service managers wait longer.
    private static let lastSeconds = 8.0

    func post(_ event: Event) {
        waiting.withLock { $0.append(event) }
        count.signal()
    }

    /// Waits for the next event.
    func next() -> Event {
        while true {
            count.wait()
            if let event = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
        }
    }
}
