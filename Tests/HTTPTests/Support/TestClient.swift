internal import Dispatch
internal import Primitives

@testable import HTTP

/// A connection pool on its own loop, driven from a test.
final class TestClient: Sendable {
    private let loop = EventLoop(label: "test.client")
    private let token = Guarded(Token.none)

    init(_ settings: ClientSettings = ClientSettings()) {
        loop.call { [token] core in
            let pool = PoolHolder(ConnectionPool(settings: settings, core: core))
            token.withLock { $0 = core.add(pool) }
        }
    }

    deinit {
        loop.stop()
    }

    /// Begins a request; `prepare` gets the handler on the loop before any event, and `then` goes on in the same turn.
    ///
    /// With `atEndOfTurn` it begins where handlers are attended to, just before deadlines are looked at.
    func begin(
        _ head: String = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", framing: BodyFraming = .none,
        to endpoint: Endpoint, scheme: UpstreamTarget.Scheme = .http, authority: String? = nil,
        fresh: Bool = false, atEndOfTurn: Bool = false,
        prepare: @escaping @Sendable (TestResponse) -> Void = { _ in },
        then: @escaping @Sendable (TestResponse, ConnectionPool) -> Void = { _, _ in }
    ) throws -> TestExchange {
        guard let head = try parseRequest(head) else { throw ParseError.malformedMethod }
        let exchange = TestExchange(loop)
        withPool { [journal = exchange.journal, token = exchange.token] pool, core in
            let response = TestResponse(journal)
            token.withLock { $0 = core.add(response) }
            prepare(response)
            let begin = {
                do throws(SystemError) {
                    let target = UpstreamTarget(
                        scheme: scheme, authority: authority ?? endpoint.text, endpoint: endpoint)
                    let connection = try pool.connection(from: pool.targetPool(for: target), fresh: fresh)
                    journal.note(connection.isReused ? "reused" : "new")
                    response.connection = connection
                    connection.begin(head, framing: framing, handler: response)
                } catch {
                    journal.note("cannot connect")
                }
                then(response, pool)
            }
            if atEndOfTurn { core.attend(core.add(Attended(begin))) } else { begin() }
        }
        return exchange
    }

    /// Runs `body` with the pool on its loop.
    func withPool(_ body: @escaping @Sendable (ConnectionPool, EventLoop.Core) -> Void) {
        let token = token.withLock { $0 }
        loop.execute { core in
            if let holder = core.handler(token, as: PoolHolder.self) { body(holder.pool, core) }
        }
    }

    /// Returns the numbers of idle and active connections, after all earlier work of the loop.
    func counts() -> [Int] {
        let journal = Journal()
        withPool { pool, _ in
            journal.note("\(pool.idleCount)")
            journal.note("\(pool.activeCount)")
        }
        return journal.wait { $0.count == 2 }.compactMap { Int($0) }
    }
}

private final class Attended: Handler {
    private let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    func attend(_ core: EventLoop.Core) { body() }
}

private final class PoolHolder: Handler {
    let pool: ConnectionPool
    init(_ pool: ConnectionPool) { self.pool = pool }
}

/// A test's end of an exchange that runs on a client's loop.
final class TestExchange: Sendable {
    /// The calls of the response's handler.
    let journal = Journal()
    /// The token of the response's handler on the loop.
    let token = Guarded(Token.none)
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Waits for the last call of the handler; returns all of them.
    func outcome() -> [String] {
        journal.wait { $0.contains { $0 == "end" || $0.hasPrefix("failed") || $0 == "cannot connect" } }
    }

    /// Runs `body` with the handler on its loop.
    func onLoop(_ body: @escaping @Sendable (TestResponse) -> Void) {
        let token = token.withLock { $0 }
        loop.execute { core in
            if let response = core.handler(token, as: TestResponse.self) { body(response) }
        }
    }
}
