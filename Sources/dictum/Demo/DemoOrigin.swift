internal import Dispatch
internal import HTTP
internal import Primitives

/// The demo's API, running on its own event loop.
///
/// Safe from any thread except that loop.
final class DemoOrigin: Sendable {
    /// The address it listens at, on a port that the system chose.
    let endpoint: Endpoint
    private let versions: DemoVersions
    private let loop = EventLoop(label: "dictum.demo")
    private let token: Token

    /// Accepts from now on; call `show` before the first request.
    init(_ versions: DemoVersions) throws(CommandError) {
        self.versions = versions
        let socket = try Self.listen()
        endpoint = socket.endpoint
        let made = Guarded<Token>(.none)
        let started = DispatchSemaphore(value: 0)
        loop.execute { core in
            let application = DemoApplication(versions: versions, core: core)
            let token = core.add(application)
            application.added(as: token)
            let listener = Listener(
                sockets: [socket], application: application, settings: ServerSettings(),
                count: ConnectionCount())
            listener.start(on: core)
            made.withLock { $0 = token }
            started.signal()
        }
        started.wait()
        token = made.withLock { $0 }
    }

    /// Serves a version from the time this returns; returns its body.
    func show(_ number: Int) throws(CommandError) -> [UInt8] {
        let body = try versions.body(number)
        let shown = DispatchSemaphore(value: 0)
        loop.execute { [token] core in
            core.handler(token, as: DemoApplication.self)?.show(number, body)
            shown.signal()
        }
        shown.wait()
        return body
    }

    func keepChanging() {
        loop.execute { [token] core in core.handler(token, as: DemoApplication.self)?.keepChanging() }
    }

    func stop() { loop.stop() }

    private static func listen() throws(CommandError) -> ListeningSocket {
        do throws(SystemError) {
            let address = Endpoint.resolve(host: "127.0.0.1", port: 0).first
            let sockets = try address.map { endpoint throws(SystemError) in
                try ListeningSocket.open(endpoint, count: 1)
            }
            if let socket = sockets?.first { return socket }
        } catch {
            throw CommandError("cannot listen on 127.0.0.1: \(error.text)")
        }
        throw CommandError("cannot listen on 127.0.0.1; check the loopback interface")
    }
}

/// The demo's API on its loop: one resource whose content changes.
///
/// Confined to the loop.
final class DemoApplication: Application, Handler {
    static let path = "/feed"
    private static let changeMilliseconds: Int64 = 5_000

    private let versions: DemoVersions
    private var number = 0
    private var body: [UInt8] = []
    private let core: EventLoop.Core
    private var token = Token.none

    init(versions: DemoVersions, core: EventLoop.Core) {
        self.versions = versions
        self.core = core
    }

    /// Sets the application's own token.
    func added(as token: Token) { self.token = token }

    /// Serves this version from now on.
    func show(_ number: Int, _ body: [UInt8]) {
        self.number = number
        self.body = body
    }

    /// Changes the content every few seconds from now on.
    func keepChanging() { core.setDeadline(token, core.now + Self.changeMilliseconds) }

    func expired(_ core: EventLoop.Core) {
        // If a file has disappeared, the content stays as it is.
        if let next = try? versions.body(number + 1) { show(number + 1, next) }
        keepChanging()
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let isKnown = head.target.path == Self.path
        var response = ResponseHead(status: isKnown ? .ok : .notFound)
        response.headers.append(.contentType, isKnown ? versions.mediaType : "text/plain")
        if isKnown { response.headers.append(.cacheControl, "max-age=60") }
        let body = isKnown ? body : Array("The demo serves only \(Self.path).\n".utf8)
        return DemoResponder(response, body, isHead: head.method == .head, stream: stream)
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {}
}

/// A request that was responded to at once; later events are ignored.
final class DemoResponder: RequestHandler {
    private let stream: any ResponseStream

    /// Sends the response, without the body for HEAD.
    init(_ head: consuming ResponseHead, _ body: [UInt8], isHead: Bool, stream: any ResponseStream) {
        self.stream = stream
        if isHead {
            head.headers.append(.contentLength, String(body.count))
            stream.start(head, body: .none)
        } else {
            stream.start(head, body: .length(UInt64(body.count)))
            stream.write(body.span)
        }
        stream.finish()
    }

    func received(_ bytes: Span<UInt8>) {}

    func receivedEnd(trailers: Headers) {}

    func malformed(_ error: ParseError) { stream.abort() }

    func drained() {}

    func aborted(_ cause: ClientLoss) {}
}
