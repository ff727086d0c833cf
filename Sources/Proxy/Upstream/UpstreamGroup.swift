internal import Dictionaries
internal import HTTP

/// The upstreams of one configuration: their settings, their TLS, and the directory of their addresses.
struct UpstreamGroup: Sendable {
    let settings: Configuration.Upstream
    /// The TLS settings, or nil if no upstream uses TLS.
    let tls: TLSClientContext?
    let directory: UpstreamDirectory
    /// Logs a message for the operator; safe from any thread.
    let report: @Sendable (OperatorEvent) -> Void

    /// Creates the group of a configuration.
    ///
    /// - Parameter former: the group before a reload.
    init(
        _ settings: Configuration.Upstream, _ directory: UpstreamDirectory,
        after former: UpstreamGroup? = nil,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) throws(StartError) {
        self.settings = settings
        self.directory = directory
        self.report = report
        guard settings.urls.contains(where: { $0.scheme == .https }) else {
            // Requests in progress may retry at the former upstreams.
            tls = former?.tls
            return
        }
        if !settings.tls.verifies {
            report(.warning("upstream.tls.verify is off: anybody on the way to the upstream can be it"))
        }
        do throws(TLSError) {
            tls = try TLSClientContext(settings.tls)
        } catch {
            throw .upstreamTLS(error.text)
        }
    }

    /// The current addresses, or nil once a reload has replaced the upstreams.
    var servers: [UpstreamServer]? { directory.servers(standingFor: settings.urls) }
}
