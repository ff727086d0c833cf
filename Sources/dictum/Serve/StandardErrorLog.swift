internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Logging
internal import Proxy
internal import Storage

/// The operator's log on standard error: one line per event, as text or as JSON.
struct StandardErrorLog: LogHandler {
    let isJSON: Bool
    var metadata: Logger.Metadata = [:]
    /// Shared by all copies of the log, so that a reload and the admin listener can change it.
    private let threshold: LogThreshold

    init(isJSON: Bool, threshold: LogThreshold) {
        self.isJSON = isJSON
        self.threshold = threshold
    }

    var logLevel: Logger.Level {
        get { Logger.Level(threshold.level) }
        set { threshold.level = Configuration.Log.Level(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let time = Date().formatted(.iso8601)
        let message = "\(event.message)"
        guard isJSON else { return StandardError.write("\(time) \(event.level) \(message)", as: event.level) }
        let fields = ["time": time, "level": "\(event.level)", "message": message]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(fields) else { return }
        StandardError.write(String(decoding: line, as: UTF8.self), as: event.level)
    }
}

extension StandardError {
    /// True if standard error leads to systemd's journal, which takes a level before each line (sd-daemon(3)).
    private static let isJournal: Bool = {
        var facts = stat()
        // Safe: `facts` is local and outlives the call.
        guard unsafe fstat(STDERR_FILENO, &facts) == 0 else { return false }
        return ProcessInfo.processInfo.environment["JOURNAL_STREAM"] == "\(facts.st_dev):\(facts.st_ino)"
    }()

    /// Writes a line of the service; the journal is told its level, so that `journalctl -p` finds it.
    static func write(_ line: String, as level: Logger.Level) {
        write(isJournal ? "<\(level.syslogPriority)>\(line)" : line)
    }
}

extension Logger.Level {
    /// The number of the level in syslog(3).
    fileprivate var syslogPriority: Int32 {
        switch self {
        case .trace, .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .notice: LOG_NOTICE
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        case .critical: LOG_CRIT
        }
    }
}

extension Logger.Level {
    fileprivate init(_ level: Configuration.Log.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}

extension Configuration.Log.Level {
    fileprivate init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info, .notice: self = .info
        case .warning: self = .warning
        case .error, .critical: self = .error
        }
    }
}

extension OperatorEvent {
    var level: Logger.Level {
        switch self {
        case .info: .info
        case .warning: .warning
        case .error: .error
        case .about(_, let event): event.level
        }
    }

    var text: String {
        switch self {
        case .info(let text), .warning(let text), .error(let text): text
        case .about(_, let event): event.text
        }
    }
}
