internal import HTTP
internal import Primitives
internal import Storage

/// One upstream of a configuration: its settings, its TLS, and the directory of its addresses.
///
/// Safe from any thread. A class, so that a route holds one reference.
final class UpstreamGroup: Sendable {
    /// The position among the upstreams of its configuration.
    let place: Int
    let settings: Configuration.Upstream
    /// The TLS settings, or nil if no URL uses TLS.
    let tls: TLSClientContext?
    let directory: UpstreamDirectory
    /// The addresses of its names when the group was made, which the directory has from `adopt` on.
    let resolved: [UpstreamServer]
    /// The places that its requests have taken; the same object over reloads.
    let load: FairHolding
    /// The settings of each loop's connections.
    let connections: ClientSettings
    /// The Host of requests that name none.
    let authority: String
    /// The fields of a response; five times as many as of a request, whose sender is a stranger.
    private static let fieldCountMax = 1_000
    let report: @Sendable (OperatorEvent) -> Void

    /// - Parameters:
    ///   - shared: what all upstreams have in common.
    ///   - former: the group of the same name before a reload, whose directory stays.
    init(
        _ settings: Configuration.Upstream, at place: Int, in configuration: Configuration,
        _ shared: UpstreamGroups.Shared, after former: UpstreamGroup?,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) throws(StartError) {
        self.place = place
        self.settings = settings
        directory = former?.directory ?? UpstreamDirectory(settings.name, shared.resolver)
        resolved = try directory.servers(of: settings.urls)
        load = former?.load ?? FairHolding()
        self.report = report
        authority = settings.urls.first?.authority ?? ""
        // A group that has lost its TLS keeps the former one's, because requests in progress may retry at former addresses.
        tls = try Self.tls(settings, report: report) ?? former?.tls
        var connections = ClientSettings()
        connections.tls = tls
        connections.connectTimeout = Int64(settings.connectTimeout)
        connections.responseTimeout = Int64(settings.responseTimeout)
        connections.idleTimeout = Int64(settings.idleTimeout)
        connections.limits = MessageLimits(
            headBytes: configuration.limits.responseHead, fieldCount: Self.fieldCountMax)
        connections.bodyRate = configuration.limits.bodyRate
        // The setting counts the connections of all loops.
        connections.keepAliveMax = (settings.keepAlive + shared.loopCount - 1) / shared.loopCount
        connections.idleConnections = shared.idleConnections
        connections.idleConnectionsMax = DescriptorLimit.upstreamShare(of: configuration).idle
        self.connections = connections
    }

    private static func tls(
        _ settings: Configuration.Upstream, report: (OperatorEvent) -> Void
    ) throws(StartError) -> TLSClientContext? {
        guard settings.urls.contains(where: { $0.scheme == .https }) else { return nil }
        if !settings.tls.verifies {
            report(
                .warning("\(settings.key).tls.verify is off: anybody on the way to the upstream can be it"))
        }
        do throws(TLSError) {
            return try TLSClientContext(settings.tls)
        } catch {
            throw .upstreamTLS(error.text, setting: settings.key)
        }
    }

    var name: String { settings.name }

    /// The current addresses, or nil once a reload has replaced the upstream.
    var servers: [UpstreamServer]? { directory.servers(standingFor: settings.urls) }
}

/// All upstreams of one configuration; the one without a name comes first if there is one.
struct UpstreamGroups: Sendable {
    let all: [UpstreamGroup]

    /// What all upstreams have in common, over all reloads.
    struct Shared: Sendable {
        let resolver: NameResolver
        let loopCount: Int
        let idleConnections = ConnectionCount()
    }

    /// Resolves all names; blocks, and changes nothing until `adopt`.
    ///
    /// - Parameter former: the groups before a reload.
    init(
        _ configuration: Configuration, _ shared: Shared, after former: UpstreamGroups? = nil,
        report: @escaping @Sendable (OperatorEvent) -> Void
    ) throws(StartError) {
        var all: [UpstreamGroup] = []
        for settings in configuration.allUpstreams {
            all.append(
                try UpstreamGroup(
                    settings, at: all.count, in: configuration, shared, after: former?[settings.name],
                    report: report))
        }
        self.all = all
    }

    /// Has the directories use the addresses that were resolved.
    func adopt() {
        for group in all { group.directory.adopt(group.settings.urls, group.resolved) }
    }

    /// Returns the upstream of this name; nil and the empty name stand for the one without a name.
    subscript(name: String?) -> UpstreamGroup? { all.first { $0.name == name ?? "" } }

    var servers: [UpstreamServer] { all.flatMap(\.directory.servers) }
}
