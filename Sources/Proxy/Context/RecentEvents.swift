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
        /// True if the message tells of a configuration that was refused.
        var isRefusal = false
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
        let short = Self.shortened(text)
        kept.withLock { kept in
            var entry = Entry(isError: isError, text: short, time: now, count: 1)
            if let place = kept.firstIndex(where: { $0.text == short && $0.isError == isError }) {
                entry.count += kept.remove(at: place).count
            }
            kept.append(entry)
            if kept.count > Self.countMax { kept.removeFirst() }
        }
    }

    /// Forgets these messages once another configuration is in effect (`forgetRefusals`).
    func markRefusals(_ texts: [String]) {
        let short = Set(texts.map(Self.shortened))
        kept.withLock { kept in
            for place in kept.indices where short.contains(kept[place].text) { kept[place].isRefusal = true }
        }
    }

    func forgetRefusals() {
        kept.withLock { $0.removeAll(where: \.isRefusal) }
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count > textBytesMax ? String(text.prefix(textBytesMax)) + "…" : text
    }

    /// Returns the messages of the last day, the latest first.
    func entries(now: Int = SystemClock.unixSeconds) -> [Entry] {
        kept.withLock { $0 }.reversed().filter { now - $0.time < Self.secondsMax }
    }
}
