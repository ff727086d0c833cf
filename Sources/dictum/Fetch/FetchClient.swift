internal import Dictionaries
internal import Dispatch
internal import HTTP
internal import Primitives

/// A blocking HTTP client on an event loop of its own, with one request at a time.
final class FetchClient: Sendable {
    /// The maximum size of a body, coded or decoded.
    static let bodyBytesMax = 256 << 20

    private let loop = EventLoop(label: "dictum.fetch")
    private let token: Token

    /// Starts the loop.
    ///
    /// With `tls`, every connection uses TLS and verifies the host that the request names.
    init(tls: TLSClientContext? = nil) {
        let made = Guarded<Token>(.none)
        let started = DispatchSemaphore(value: 0)
        loop.execute { core in
            let token = core.add(FetchLoop(tls: tls, core: core))
            made.withLock { $0 = token }
            started.signal()
        }
        started.wait()
        token = made.withLock { $0 }
    }

    deinit {
        loop.execute { [token] core in core.handler(token, as: FetchLoop.self)?.pool.closeIdle() }
        loop.stop()
    }

    /// Sends a request without a body and waits for the complete response until `deadline`.
    ///
    /// Tries the addresses in turn until one accepts the connection.
    func send(
        _ request: RequestHead, to endpoints: [Endpoint], deadline: FetchDeadline
    ) throws(FetchError) -> FetchAnswer {
        var failure = FetchError.unknownHost(request.headers.first(.host) ?? "")
        for endpoint in endpoints {
            do throws(FetchError) {
                return try send(request, to: endpoint, deadline: deadline)
            } catch {
                failure = error
                switch error {
                case .exchange(.connectFailed), .exchange(.connectTimeout), .exchange(.handshakeFailed):
                    continue
                default: throw error
                }
            }
        }
        throw failure
    }

    private func send(
        _ request: RequestHead, to endpoint: Endpoint, deadline: FetchDeadline
    ) throws(FetchError) -> FetchAnswer {
        let outcome = Guarded<FetchExchange.Outcome?>(nil)
        let ended = DispatchSemaphore(value: 0)
        loop.execute { [token] core in
            guard let part = core.handler(token, as: FetchLoop.self) else { return }
            let exchange = FetchExchange(
                request, in: part.lane(of: request, to: endpoint), bodyBytesMax: Self.bodyBytesMax,
                pool: part.pool
            ) { result in
                outcome.withLock { $0 = result }
                ended.signal()
            }
            part.exchange = exchange
            exchange.start()
        }
        guard ended.wait(timeout: .now() + .milliseconds(deadline.remainingMilliseconds)) == .success,
            let outcome = outcome.withLock({ $0 })
        else {
            loop.execute { [token] core in core.handler(token, as: FetchLoop.self)?.exchange?.abort() }
            throw .tooSlow(seconds: deadline.seconds)
        }
        return try outcome.get()
    }
}
