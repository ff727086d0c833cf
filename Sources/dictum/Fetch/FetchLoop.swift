internal import HTTP

/// What the fetch client has on its loop: the connections, and the exchange under way.
final class FetchLoop: Handler {
    let pool: ConnectionPool
    var exchange: FetchExchange?

    init(core: EventLoop.Core) {
        var settings = ClientSettings()
        settings.connectTimeout = 10_000
        pool = ConnectionPool(settings: settings, core: core)
    }
}
