internal import HTTP

/// What the fetch client has on its loop: the connections, and the exchange under way.
final class FetchLoop: Handler {
    let pool: ConnectionPool
    private let scheme: UpstreamTarget.Scheme
    var exchange: FetchExchange?

    /// With `tls` every connection is protected.
    init(tls: TLSClientContext?, core: EventLoop.Core) {
        var settings = ClientSettings()
        settings.tls = tls
        scheme = tls == nil ? .http : .https
        settings.connectTimeout = 10_000
        pool = ConnectionPool(settings: settings, core: core)
    }
    /// The way to one address of the host that a request names.
    func lane(of request: RequestHead, to endpoint: Endpoint) -> UpstreamLane {
        let authority = request.headers.first(.host) ?? endpoint.text
        return pool.lane(to: UpstreamTarget(scheme: scheme, authority: authority, endpoint: endpoint))
    }
}
