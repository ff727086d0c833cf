internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Primitives
internal import Proxy
internal import Storage

/// The operator's log on standard error: one line per event, as text or as JSON.
struct StandardErrorLog: Sendable {
    let isJSON: Bool
    /// Shared by all copies of the log, so that a reload and the admin listener can change it.
    let threshold: LogThreshold

    init(isJSON: Bool, threshold: LogThreshold) {
        (self.isJSON, self.threshold) = (isJSON, threshold)
        StandardError.log.withLock { $0 = self }
    }

    func info(_ text: String) { log(.info, text) }
    func warning(_ text: String) { log(.warning, text) }
    func error(_ text: String) { log(.error, text) }

    func log(_ level: LogLevel, _ text: String) {
        guard threshold.includes(level) else { return }
        let time = Date().formatted(.iso8601)
        guard isJSON else { return StandardError.write("\(time) \(level) \(text)", as: level) }
        let line = JSONEncoder.line(["time": time, "level": level.rawValue, "message": text])
        if let line { StandardError.write(line, as: level) }
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

    /// The lines of the service, which wait here for a slow reader; no event loop and no end of the process does.
    private static let lines = {
        atexit { StandardError.drain() }
        return LogSink(descriptor: STDERR_FILENO, name: "standard error") { event in
            log.withLock { $0 }?.log(event.level, event.text)
        }
    }()

    /// The log that says, in its own form, how many lines were lost.
    fileprivate static let log = Guarded<StandardErrorLog?>(nil)

    /// Writes a line of the service; the journal is told its level, so that `journalctl -p` finds it.
    static func write(_ line: String, as level: LogLevel) {
        let line = isJournal ? "<\(level.syslogPriority)>\(line)\n" : line + "\n"
        lines.submit(Array(line.utf8), lines: 1)
    }

    /// Waits for the lines of the service, but for a moment only: nobody may read them.
    static func drain() { _ = lines.drain(timeoutMilliseconds: 1000) }
}

extension LogLevel {
    fileprivate var syslogPriority: Int32 {
        switch self {
        case .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        }
    }
}
