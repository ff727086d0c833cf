internal import Logging
internal import Synchronization

/// The minimum log level, shared by all copies of a log.
///
/// Safe from any thread.
final class LogThreshold: Sendable {
    private let place: Atomic<Int>

    init(_ level: Logger.Level) {
        place = Atomic(Self.place(of: level))
    }

    var level: Logger.Level {
        get { Logger.Level.allCases[place.load(ordering: .relaxed)] }
        set { place.store(Self.place(of: newValue), ordering: .relaxed) }
    }

    private static func place(of level: Logger.Level) -> Int {
        Logger.Level.allCases.firstIndex(of: level) ?? 0
    }
}
