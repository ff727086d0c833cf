internal import HTTP

/// What the fetch client has on its loop: the connections, and the exchange under way.
final class FetchLoop: Handler {
    let pool: ConnectionPool
    var exchange: FetchExchange?

    /// With `tls` every connection is protected, and the host of that name at its end.
    init(tls: (context: TLSClientContext, host: String)?, core: EventLoop.Core) {
        var settings = ClientSettings()
        settings.tls = tls
        settings.connectTimeout = 10_000
        pool = ConnectionPool(settings: settings, core: core)
    }
}
