internal import HTTP

/// The fetch client's state on its loop: the connections and the current exchange.
final class FetchLoop: Handler {
    let pool: ConnectionPool
    private let scheme: UpstreamTarget.Scheme
    var exchange: FetchExchange?

    /// With `tls`, every connection uses TLS.
    init(tls: TLSClientContext?, core: EventLoop.Core) {
        var settings = ClientSettings()
        settings.tls = tls
        scheme = tls == nil ? .http : .https
        settings.connectTimeout = 10_000
        pool = ConnectionPool(settings: settings, core: core)
    }
    /// Returns the lane to one address of the host that a request names.
    func lane(of request: RequestHead, to endpoint: Endpoint) -> UpstreamLane {
        let authority = request.headers.first(.host) ?? endpoint.text
        return pool.lane(to: UpstreamTarget(scheme: scheme, authority: authority, endpoint: endpoint))
    }
}
