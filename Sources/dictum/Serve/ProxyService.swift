internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy
internal import Storage

/// A proxy with its log, for `serve` and `demo`.
struct ProxyService {
    let log: StandardErrorLog
    let server: ProxyServer
    private let sink: LogSink

    init(
        _ configuration: Configuration, accessLog: Bool = true, inherited: InheritedSockets = .none
    ) throws(StartError) {
        let isJSON = Self.isJSON(configuration.log.format)
        let threshold = LogThreshold(configuration.log.level)
        let log = StandardErrorLog(isJSON: isJSON, threshold: threshold)
        self.log = log
        let report: @Sendable (OperatorEvent) -> Void = { log.log($0.level, $0.text) }
        let file = accessLog ? configuration.log.access.file : nil
        sink = if let file { try LogSink(file: file, report: report) } else { LogSink(report: report) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let context = try ProxyContext.open(configuration, log: report, loopCount: cores)
        let isForMachines = isJSON || file != nil && configuration.log.format == .auto
        server = try ProxyServer(
            context: context,
            accessLog: accessLog ? AccessLogOutput(sink: sink, isJSON: isForMachines) : nil,
            inherited: inherited, logThreshold: threshold)
        if let shortage = DescriptorLimit.shortage(of: configuration) { log.warning(shortage) }
        if let url = server.adminURL { log.info("the admin page is at \(url)") }
        for url in server.urls { log.info("listening on \(url)") }
    }

    /// Drains and stops; blocks until everything is written.
    ///
    /// Returns false if an event loop was stuck.
    @discardableResult
    func stop(isHandedOver: Bool = false) -> Bool {
        let isWhole = server.stop(isHandedOver: isHandedOver)
        _ = sink.drain(timeoutMilliseconds: 1000)
        if !isWhole { log.error("an event loop is stuck; its connections are lost") }
        return isWhole
    }

    /// Opens the file of the access log again, after a log rotation has renamed it.
    func reopenLog() {
        if !sink.reopen() { log.info("SIGUSR1: the access log has no file (log.access.file)") }
    }

    /// Reads the configuration again; keeps the current one if the file is invalid.
    func reload(file: String, environment: [String: String]) {
        do throws(ConfigurationError) {
            let configuration = try Configuration.load(file: file, environment: environment)
            warn(of: configuration, file: file)
            reload(configuration)
        } catch {
            server.refuseReload(error.lines(file: file) + ["invalid configuration; keeping the current one"])
        }
    }

    func warn(of configuration: Configuration, file: String) {
        for line in configuration.warningLines(file: file) { log.warning(line) }
    }

    private func reload(_ configuration: Configuration) {
        let former = Set(server.urls)
        // The server has reported an error, or what waits for the next start.
        guard (try? server.reload(configuration)) != nil else { return }
        for url in server.urls where !former.contains(url) { log.info("listening on \(url)") }
        log.info("the new configuration is in effect")
    }

    private static func isJSON(_ format: Configuration.Log.Format) -> Bool {
        switch format {
        case .json: true
        case .text: false
        case .auto: isatty(STDOUT_FILENO) == 0
        }
    }
}
