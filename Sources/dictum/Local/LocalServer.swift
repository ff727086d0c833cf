internal import HTTP

/// The application of a local server, which lives on its loop.
protocol LocalApplication: Application, Handler, SendableMetatype {
    /// The application's own token, for deadlines.
    var token: Token { get set }
}

extension LocalApplication {
    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {}
}

/// A small HTTP server for a command, on an event loop of its own.
///
/// Safe from any thread except that loop.
final class LocalServer<Served: LocalApplication>: Sendable {
    /// The addresses it listens at, with the ports that the system chose.
    let endpoints: [Endpoint]
    private let loop: EventLoop
    private let token: Token

    /// Listens at each address, such as 127.0.0.1 and port 0, and accepts from now on.
    ///
    /// `make` makes the application on the loop.
    init(
        _ label: String, at addresses: [(host: String, port: UInt16)],
        settings: ServerSettings = ServerSettings(),
        _ make: @escaping @Sendable (EventLoop.Core) -> Served
    ) throws(CommandError) {
        let sockets = try addresses.map { address throws(CommandError) in
            try Self.listen(address.host, address.port)
        }
        endpoints = sockets.map(\.endpoint)
        loop = EventLoop(label: label)
        let made = loop.call { core in
            let application = make(core)
            let token = core.add(application)
            application.token = token
            for socket in sockets {
                Listener(
                    sockets: [socket], application: application, settings: settings, count: ConnectionCount()
                ).start(on: core)
            }
            return token
        }
        token = made ?? Token.none
    }

    /// Runs a closure on the loop, and returns once it has ended.
    func execute(_ work: @escaping @Sendable (Served) -> Void) {
        loop.call { [token] core in
            if let application = core.handler(token, as: Served.self) { work(application) }
        }
    }

    func stop() { loop.stop() }

    private static func listen(_ host: String, _ port: UInt16) throws(CommandError) -> ListeningSocket {
        do throws(SystemError) {
            let address = Endpoint.resolve(host: host, port: port).first
            let sockets = try address.map { endpoint throws(SystemError) in
                try ListeningSocket.open(endpoint, count: 1)
            }
            if let socket = sockets?.first { return socket }
        } catch {
            throw CommandError("cannot listen on \(host):\(port): \(error.text)")
        }
        throw CommandError("cannot listen on \(host): it does not resolve; give an address of this machine")
    }
}

/// A handler that ignores the content of its request, and every other event.
protocol IncuriousHandler: RequestHandler {}

extension IncuriousHandler {
    func received(_ bytes: Span<UInt8>) {}

    func receivedEnd(trailers: Headers) {}

    func malformed(_ error: ParseError) {}

    func drained() {}

    func aborted(_ cause: ClientLoss) {}
}

/// A request that was responded to at once.
final class WholeResponse: IncuriousHandler {
    private let stream: any ResponseStream

    /// Sends the response, without the body for HEAD.
    init(_ head: consuming ResponseHead, _ body: [UInt8], isHead: Bool, on stream: any ResponseStream) {
        self.stream = stream
        stream.respond(head, body, isHead: isHead)
    }

    func malformed(_ error: ParseError) { stream.abort() }
}
