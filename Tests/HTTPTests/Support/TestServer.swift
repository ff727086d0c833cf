internal import Dispatch
internal import Glibc
internal import Primitives
internal import TestSupport

@testable import HTTP

/// A server on its own loop; a test's closure responds to its requests.
final class TestServer: Sendable {
    /// The closure that is called on the loop with each request.
    typealias Answering = @Sendable (TestRequest) -> Void

    /// The listening address.
    let endpoint: Endpoint
    /// The calls of the handlers: `begin`, `body`, `end`, `malformed`, `drained`, `aborted`, `refuse`.
    let journal = Journal()
    /// The number of open connections.
    let count = ConnectionCount()
    private let loop = EventLoop(label: "test.server")
    private let token = Guarded(Token.none)

    /// Starts to accept.
    init(_ settings: ServerSettings = ServerSettings(), answering: @escaping Answering) throws {
        let socket = try ListeningSocket.open(.ip(try loopback(), port: 0), count: 1)[0]
        endpoint = socket.endpoint
        loop.call { [journal, count, token] core in
            let application = TestApplication(journal, answering)
            let listener = Listener(
                sockets: [socket], application: application, settings: settings, count: count)
            listener.start(on: core)
            token.withLock { $0 = core.add(Holder(listener, application)) }
        }
    }

    deinit {
        loop.stop()
    }

    /// Opens a connection.
    func connect(receiveBuffer: Int32? = nil) throws -> WireSocket {
        try WireSocket(to: endpoint, receiveBytes: receiveBuffer)
    }

    /// Drains; records `drained all` at the end.
    func stop() {
        let token = token.withLock { $0 }
        loop.execute { [journal] core in
            core.handler(token, as: Holder.self)?.listener.stop(core) { journal.note("drained all") }
        }
    }

    /// Resets all open connections.
    func abortAll() {
        let token = token.withLock { $0 }
        loop.execute { core in core.handler(token, as: Holder.self)?.listener.abortAll() }
    }

    /// Waits until the loop has done all earlier work.
    func sync() {
        loop.call { _ in }
    }

    /// Blocks the loop for a while, so that the client's events come in one batch.
    func pause(milliseconds: UInt32) {
        sync()
        loop.execute { _ in usleep(milliseconds * 1000) }
    }

    /// Blocks the loop while `body` runs, so that what a client does then is there before the loop looks at its clock.
    func whileHeld<Result>(_ body: () throws -> Result) rethrows -> Result {
        let (held, gate) = (Gate(), Gate())
        loop.execute { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        defer { gate.open() }
        return try body()
    }

    /// Waits at most a minute for a number of open connections; returns true if it was reached.
    func awaitConnections(_ wanted: Int) -> Bool {
        let limit = DispatchTime.now() + .seconds(60)
        while count.current != wanted, DispatchTime.now() < limit { usleep(2000) }
        return count.current == wanted
    }

    /// Runs `body` on the loop with the latest request if it is still open.
    func withRequest(_ body: @escaping @Sendable (TestRequest) -> Void) {
        let token = token.withLock { $0 }
        loop.execute { core in
            if let request = core.handler(token, as: Holder.self)?.application.latest { body(request) }
        }
    }

    private final class Holder: Handler {
        let listener: Listener
        let application: TestApplication

        init(_ listener: Listener, _ application: TestApplication) {
            self.listener = listener
            self.application = application
        }
    }
}

private final class TestApplication: Application {
    /// The latest request, as long as its connection holds it.
    private(set) weak var latest: TestRequest?
    private let journal: Journal
    private let answering: TestServer.Answering

    init(_ journal: Journal, _ answering: @escaping TestServer.Answering) {
        self.journal = journal
        self.answering = answering
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let request = TestRequest(head, framing, stream, journal)
        journal.note("begin \(request.path)")
        latest = request
        answering(request)
        return request
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {
        journal.note("refuse \(refusal)")
        let status: Status =
            switch refusal {
            case .malformed(let error): error.status
            case .headTimeout: .requestTimeout
            case .badProxyHeader: .badRequest
            case .tooManyConnections, .tooManyConnectionsOfClient: .serviceUnavailable
            }
        _ = send(testHead(status), wire("no\n"))
    }
}

/// Returns a response's head with a fixed Date.
func testHead(_ status: Status = .ok) -> ResponseHead {
    var head = ResponseHead(status: status)
    head.headers.append(.date, "then")
    return head
}
