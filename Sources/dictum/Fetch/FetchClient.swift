internal import Dispatch
internal import HTTP
internal import Primitives

/// A blocking HTTP client on an event loop of its own, with one request at a time.
final class FetchClient: Sendable {
    /// The maximum size of a body, coded or decoded.
    static let bodyBytesMax = 256 << 20

    private let loop: EventLoop
    private let token: Token

    /// Starts the loop of a client for the origin of an https URL, or for any http URL; servers choose from `protocols`.
    ///
    /// Over TLS every connection verifies the host that the request names, by the authorities in a PEM file, or without
    /// one by those of the system. Without `verifies` any certificate will do.
    init(
        _ protocols: HTTPProtocols, for url: FetchURL? = nil, trusting authority: String? = nil,
        verifies: Bool = true
    ) throws(FetchError) {
        var tls: TLSClientContext?
        if url?.isTLS == true {
            var settings = TLSClientSettings()
            settings.authority = authority
            settings.verifies = verifies
            // A server that must speak HTTP/2 may still choose, so that the user is told what it chose.
            settings.protocols = protocols.contains(.http2) ? .all : .http1
            do throws(TLSError) {
                tls = try TLSClientContext(settings)
            } catch {
                throw .tls(error.text)
            }
        }
        loop = EventLoop(label: "dictum.fetch")
        token =
            loop.call { [tls] core in core.add(FetchLoop(protocols, tls: tls, core: core)) } ?? Token.none
    }

    deinit {
        loop.execute { [token] core in core.handler(token, as: FetchLoop.self)?.dialer.closeIdle() }
        loop.stop()
    }

    /// Sends a request with its content, by HTTP/1.1 if there is any, and waits for the complete response until `deadline`.
    ///
    /// Tries the addresses in turn until one accepts the connection. Calls `onSend` on the loop, with the version of
    /// HTTP, each time that the request is sent.
    func send(
        _ request: RequestHead, _ content: [UInt8] = [], to endpoints: [Endpoint], deadline: FetchDeadline,
        onSend: @escaping @Sendable (HTTPVersion) -> Void = { _ in }
    ) throws(FetchError) -> FetchResponse {
        var failure = FetchError.unknownHost(request.headers.first(.host) ?? "")
        for endpoint in endpoints {
            do throws(FetchError) {
                return try send(request, content, to: endpoint, deadline: deadline, onSend: onSend)
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
        _ request: RequestHead, _ content: [UInt8], to endpoint: Endpoint, deadline: FetchDeadline,
        onSend: @escaping @Sendable (HTTPVersion) -> Void
    ) throws(FetchError) -> FetchResponse {
        let outcome = AwaitedValue<FetchExchange.Outcome>()
        loop.execute { [token] core in
            guard let part = core.handler(token, as: FetchLoop.self) else { return }
            let exchange = FetchExchange(
                request, content, to: part.target(of: request, at: endpoint), dialer: part.dialer,
                onSend: onSend, onEnd: outcome.give)
            part.exchange = exchange
            exchange.start()
        }
        guard let outcome = deadline.wait(for: outcome) else {
            loop.execute { [token] core in core.handler(token, as: FetchLoop.self)?.exchange?.abort() }
            throw deadline.error
        }
        return try outcome.get()
    }
}

/// The fetch client's state on its loop: the connections and the current exchange.
final class FetchLoop: Handler {
    let dialer: ClientDialer
    private let scheme: UpstreamTarget.Scheme
    var exchange: FetchExchange?

    /// With `tls`, every connection uses TLS.
    init(_ protocols: HTTPProtocols, tls: TLSClientContext?, core: EventLoop.Core) {
        var settings = ClientSettings()
        settings.tls = tls
        scheme = tls == nil ? .http : .https
        settings.connectTimeout = 10_000
        dialer = ClientDialer(settings: settings, protocols: protocols, core: core)
    }

    /// Returns one address of the host that a request names.
    func target(of request: RequestHead, at endpoint: Endpoint) -> UpstreamTarget {
        let authority = request.headers.first(.host) ?? endpoint.text
        return UpstreamTarget(scheme: scheme, authority: authority, endpoint: endpoint)
    }
}

/// The time limit of a whole fetch.
struct FetchDeadline: Sendable {
    /// The limit in seconds, counted from the start.
    private let seconds: Int
    /// True if the limit is that of --max-time.
    private let isOption: Bool
    private let end: Int64
    private let isInterrupted: (@Sendable () -> Bool)?
    private static let sliceMilliseconds = 100

    /// A wait is over at once if something else has interrupted it.
    init(seconds: Int, isOption: Bool = true, isInterrupted: (@Sendable () -> Bool)? = nil) {
        (self.seconds, self.isOption, self.isInterrupted) = (seconds, isOption, isInterrupted)
        end = SystemClock.monotonicNanoseconds / 1_000_000 + Int64(seconds) * 1000
    }

    /// Ends no later than another one.
    init(seconds: Int, within other: FetchDeadline) {
        let own = FetchDeadline(seconds: seconds)
        (self.seconds, end, isInterrupted) = (seconds, min(own.end, other.end), other.isInterrupted)
        isOption = other.isOption
    }

    /// The error of a fetch that has not ended by then.
    var error: FetchError { .tooSlow(seconds: seconds, isOption: isOption) }

    /// The time to wait before the next look at this deadline; 0 once it is over.
    var nextMilliseconds: Int {
        guard let isInterrupted else { return remainingMilliseconds }
        return isInterrupted() ? 0 : min(remainingMilliseconds, Self.sliceMilliseconds)
    }

    var remainingMilliseconds: Int {
        Int(max(0, end - SystemClock.monotonicNanoseconds / 1_000_000))
    }

    /// Waits for a result, and returns it; nil if it does not come in time.
    func wait<Value>(for result: AwaitedValue<Value>) -> Value? {
        while true {
            let slice = nextMilliseconds
            if let value = result.take(until: .now() + .milliseconds(slice)) { return value }
            if slice == 0 { return nil }
        }
    }
}
