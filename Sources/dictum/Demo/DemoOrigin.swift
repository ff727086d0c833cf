internal import Dictionaries
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
    init(_ versions: DemoVersions) throws(DemoError) {
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
    func show(_ number: Int) throws(DemoError) -> [UInt8] {
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

    private static func listen() throws(DemoError) -> ListeningSocket {
        do throws(SystemError) {
            let address = Endpoint.resolve(host: "127.0.0.1", port: 0).first
            let sockets = try address.map { endpoint throws(SystemError) in
                try ListeningSocket.open(endpoint, count: 1)
            }
            if let socket = sockets?.first { return socket }
        } catch {
            throw DemoError("cannot listen on 127.0.0.1: \(error.text)")
        }
        throw DemoError("cannot listen on 127.0.0.1; check the loopback interface")
    }
}
