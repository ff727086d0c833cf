internal import Dictionaries
internal import Foundation
internal import Logging
internal import Synchronization

/// The operator's log on standard error: one line per event, as text or as JSON.
struct StandardErrorLog: LogHandler {
    let isJSON: Bool
    var metadata: Logger.Metadata = [:]
    /// Shared by all copies of the log, so that a reload can change it.
    private let threshold: LogThreshold

    init(isJSON: Bool, threshold: LogThreshold) {
        self.isJSON = isJSON
        self.threshold = threshold
    }

    var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let time = Date().formatted(.iso8601)
        let message = "\(event.message)"
        guard isJSON else { return StandardError.write("\(time) \(event.level) \(message)") }
        let fields = ["time": time, "level": "\(event.level)", "message": message]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(fields) else { return }
        StandardError.write(String(decoding: line, as: UTF8.self))
    }
}

/// The minimum log level, shared by all copies of a log.
///
/// Safe from any thread.
final class LogThreshold: Sendable {
    private let rank: Atomic<Int>

    init(_ level: Logger.Level) {
        rank = Atomic(Self.rank(of: level))
    }

    var level: Logger.Level {
        get { Logger.Level.allCases[rank.load(ordering: .relaxed)] }
        set { rank.store(Self.rank(of: newValue), ordering: .relaxed) }
    }

    private static func rank(of level: Logger.Level) -> Int {
        Logger.Level.allCases.firstIndex(of: level) ?? 0
    }
}

extension OperatorEvent {
    var level: Logger.Level {
        switch self {
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }

    var text: String {
        switch self {
        case .info(let text), .warning(let text), .error(let text): text
        }
    }
}
