internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - Other threads

/// A reference to an exchange that any thread may hold.
struct ExchangeReference: Sendable {
    private let loop: EventLoop
    private let token: Token

    init(_ exchange: Exchange) {
        loop = exchange.core.loop
        token = exchange.token
    }

    /// Calls `body` on the loop of the exchange, unless the exchange is over by then.
    func perform(_ body: @escaping @Sendable (Exchange) -> Void) {
        let token = token
        loop.execute { core in
            if let exchange = core.handler(token, as: Exchange.self) { body(exchange) }
        }
    }
}

extension Exchange {
    /// Hands the body of a version over: at once if it is in memory, else when it has been read; nil if it cannot be read.
    func load(_ version: Storage.Version, _ done: @escaping @Sendable (Exchange, Body?) -> Void) {
        if let body = context.store.hotBody(of: version) { return done(self, body) }
        let exchange = ExchangeReference(self)
        context.store.load(version) { body in
            exchange.perform { done($0, body) }
        }
    }
}
