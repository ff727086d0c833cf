internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP
internal import Logging
internal import Proxy

/// A proxy with its log, as `serve` and `demo` run it.
struct ProxyService {
    let log: Logger
    let server: ProxyServer
    private let sink: LogSink
    /// How long requests under way may take to end.
    private static let drainMilliseconds = 10_000

    init(_ configuration: Configuration, accessLog: Bool = true) throws(StartError) {
        let isJSON = Self.isJSON(configuration.log.format)
        var log = Logger(label: "dictum") { _ in StandardErrorLog(isJSON: isJSON) }
        log.logLevel = Self.level(configuration.log.level)
        self.log = log
        sink = LogSink()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let context = try ProxyContext.open(
            configuration, log: { [log] event in log.log(level: event.level, "\(event.text)") },
            loopCount: cores)
        let isLogged = accessLog && configuration.log.accessShare > 0
        server = try ProxyServer(
            context: context, accessLog: isLogged ? AccessLogOutput(sink: sink, isJSON: isJSON) : nil)
        for endpoint in server.endpoints { log.info("listening on \(endpoint.urlText)") }
    }

    /// Drains and stops; blocks until all is written.
    func stop() {
        server.stop(drainMilliseconds: Self.drainMilliseconds)
        _ = sink.drain(timeoutMilliseconds: 1000)
    }

    private static func isJSON(_ format: Configuration.Log.Format) -> Bool {
        switch format {
        case .json: true
        case .text: false
        case .auto: isatty(STDOUT_FILENO) == 0
        }
    }

    private static func level(_ level: Configuration.Log.Level) -> Logger.Level {
        switch level {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}
