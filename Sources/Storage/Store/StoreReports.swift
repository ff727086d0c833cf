internal import Dispatch
internal import Primitives

/// The level of a log message, from the least severe.
package enum LogLevel: String, CaseIterable, Sendable {
    case debug, info, warning, error
}

/// An event that an operator should know, in a sentence that says what to do.
package struct OperatorEvent: Sendable, Equatable {
    package let level: LogLevel
    package let text: String
    /// The subject whose state the event tells; it ends what earlier events told of the same subject.
    package var subject: String?

    package static func info(_ text: String) -> Self { Self(level: .info, text: text) }
    package static func warning(_ text: String) -> Self { Self(level: .warning, text: text) }
    package static func error(_ text: String) -> Self { Self(level: .error, text: text) }
    package static func about(_ subject: String, _ event: Self) -> Self {
        Self(level: event.level, text: event.text, subject: subject)
    }

    /// The event without its subject.
    package var plain: Self { Self(level: level, text: text) }
}

/// The events of a store on their way to the log; the same trouble is reported at most once a minute.
final class StoreReports: Sendable {
    private enum Topic: Hashable {
        case unwritable, unwritten, unreadable, throttled, waiting
    }

    let log: @Sendable (OperatorEvent) -> Void
    /// The time of each topic's last report, in nanoseconds of uptime.
    private let reported = Guarded<[Topic: UInt64]>([:])

    init(log: @escaping @Sendable (OperatorEvent) -> Void) {
        self.log = log
    }

    /// The subject of what `recovered` ends.
    private static let writing = "the writing of the store"

    /// Reports that nothing can be written until `recovered`.
    func unwritable(_ text: String) {
        if isDue(.unwritable) { log(.about(Self.writing, .error(text))) }
    }

    /// Reports trouble whose end `recovered` does not tell.
    func unwritten(_ text: String) {
        if isDue(.unwritten) { log(.error(text)) }
    }

    func unreadable(_ text: String) {
        if isDue(.unreadable) { log(.error(text)) }
    }

    /// Reports that the write rate refuses admissions; it logs on the queue, because an event loop must not
    /// wait.
    func throttled(on queue: DispatchQueue) {
        guard isDue(.throttled) else { return }
        queue.async { [log] in
            log(
                .warning(
                    "responses change faster than store.write_rate allows them to be stored: some carry no offer and "
                        + "cannot serve as dictionaries; raise it, or switch dictionaries off for routes whose "
                        + "responses never repeat"))
        }
    }

    /// The subject of what `tookOver` ends.
    private static let waiting = "the process that writes the store"

    /// Reports once that another process writes the store.
    func waiting(_ text: String) {
        let isFirst = reported.withLock { $0.updateValue(.max, forKey: .waiting) == nil }
        if isFirst { log(.about(Self.waiting, .warning(text))) }
    }

    /// Reports that this process writes the store, if it had reported waiting.
    func tookOver(_ text: String) {
        let was = reported.withLock { $0.removeValue(forKey: .waiting) }
        if was != nil { log(.about(Self.waiting, .info(text))) }
    }

    /// Reports that the disk can be written again; the next trouble is reported at once.
    func recovered(_ text: String) {
        let was = reported.withLock { $0.removeValue(forKey: .unwritable) }
        if was != nil { log(.about(Self.writing, .info(text))) }
    }

    private func isDue(_ topic: Topic) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return reported.withLock { reported in
            if let last = reported[topic], now - last < 60_000_000_000 { return false }
            reported[topic] = now
            return true
        }
    }
}
