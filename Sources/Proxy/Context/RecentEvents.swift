internal import Primitives
internal import Storage

/// The latest warnings and errors of the operator's log, for the admin listener.
final class RecentEvents: Sendable {
    /// A message, and how often it was logged.
    struct Entry: Sendable, Equatable {
        let isError: Bool
        let text: String
        /// The time of the last message, in seconds since 1970.
        var time: Int
        var count: Int
        /// The subject of the message, of which a later one ends it; nil if none does.
        var subject: String?
        /// True if the message is over once another configuration is in effect.
        var endsAtReload = false
    }

    /// The number of different messages that are kept.
    static let countMax = 50
    /// Older messages are no longer shown.
    static let secondsMax = 86_400
    /// Longer texts are cut.
    private static let textBytesMax = 1_000

    private let kept = Guarded<[Entry]>([])

    /// Keeps a warning or an error; forgets what its subject no longer is.
    func note(_ event: OperatorEvent, now: Int = SystemClock.unixSeconds) {
        let shown = Self.shown(event)
        kept.withLock { kept in
            let count = kept.first { $0.text == shown?.text && $0.isError == shown?.isError }?.count ?? 0
            kept.removeAll {
                $0.text == shown?.text && $0.isError == shown?.isError
                    || event.subject != nil && $0.subject == event.subject
            }
            guard let shown else { return }
            kept.append(
                Entry(
                    isError: shown.isError, text: shown.text, time: now, count: count + 1,
                    subject: event.subject))
            if kept.count > Self.countMax { kept.removeFirst() }
        }
    }

    /// Forgets these messages once another configuration is in effect (`forgetUntilReload`).
    func keepUntilReload(_ events: [OperatorEvent]) {
        let texts = Set(events.compactMap { Self.shown($0)?.text })
        kept.withLock { kept in
            for place in kept.indices where texts.contains(kept[place].text) {
                kept[place].endsAtReload = true
            }
        }
    }

    func forgetUntilReload() {
        kept.withLock { $0.removeAll(where: \.endsAtReload) }
    }

    /// Returns a message as it is shown; nil for one that is not.
    private static func shown(_ event: OperatorEvent) -> (isError: Bool, text: String)? {
        guard event.level == .warning || event.level == .error else { return nil }
        let isLong = event.text.utf8.count > textBytesMax
        return (event.level == .error, isLong ? String(event.text.prefix(textBytesMax)) + "…" : event.text)
    }

    /// Returns the messages of the last day, the latest first.
    func entries(now: Int = SystemClock.unixSeconds) -> [Entry] {
        kept.withLock { $0 }.reversed().filter { now - $0.time < Self.secondsMax }
    }
}
