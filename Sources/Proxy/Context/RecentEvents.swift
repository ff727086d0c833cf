internal import Dictionaries
internal import Primitives
internal import Storage

/// The latest warnings and errors of the operator's log, for the admin listener.
///
/// Safe from any thread.
final class RecentEvents: Sendable {
    /// A message, and how often it was logged.
    struct Entry: Sendable, Equatable {
        let isError: Bool
        let text: String
        /// The time of the last message, in seconds since 1970.
        var time: Int
        var count: Int
    }

    /// The number of different messages that are kept.
    static let countMax = 50
    /// Older messages are no longer shown.
    static let secondsMax = 86_400
    /// Longer texts are cut.
    private static let textBytesMax = 1_000

    private let kept = Guarded<[Entry]>([])

    /// Keeps a warning or an error.
    func note(_ event: OperatorEvent, now: Int = SystemClock.unixSeconds) {
        let (isError, text): (Bool, String)
        switch event {
        case .info: return
        case .warning(let message): (isError, text) = (false, message)
        case .error(let message): (isError, text) = (true, message)
        }
        let short = text.utf8.count > Self.textBytesMax ? String(text.prefix(Self.textBytesMax)) + "…" : text
        kept.withLock { kept in
            var entry = Entry(isError: isError, text: short, time: now, count: 1)
            if let place = kept.firstIndex(where: { $0.text == short && $0.isError == isError }) {
                entry.count += kept.remove(at: place).count
            }
            kept.append(entry)
            if kept.count > Self.countMax { kept.removeFirst() }
        }
    }

    /// Returns the messages of the last day, the latest first.
    func entries(now: Int = SystemClock.unixSeconds) -> [Entry] {
        kept.withLock { $0 }.reversed().filter { now - $0.time < Self.secondsMax }
    }
}
