/// The way of a transport to its peer: the socket, then the TLS handshake, within a time limit.
///
/// A Unix socket whose listener has no room is refused at once, and nothing reports when there is room, so it is tried again
/// until the time is over. With TCP the system goes on by itself.
struct Connecting {
    private static let pauses: ClosedRange<Int64> = 5...100

    private let transport: any ConnectionTransport
    private let endpoint: Endpoint
    private let began: Int64
    private let deadline: Int64
    /// The time of the next try; nil unless the socket waits for room: until then its events mean nothing.
    private var nextTry: Int64?
    /// True once the socket is connected.
    private var isReached = false

    /// Takes a socket that has begun to connect; times are in milliseconds of the loop's clock.
    init(_ transport: any ConnectionTransport, to endpoint: Endpoint, now: Int64, deadline: Int64) {
        (self.transport, self.endpoint, self.deadline) = (transport, endpoint, deadline)
        began = now
        if case .unix = endpoint, !Socket.hasPeer(transport.descriptor) {
            nextTry = now + Self.pauses.lowerBound
        }
    }

    /// The time at which `tryAgain` is due.
    var due: Int64 { min(nextTry ?? .max, deadline) }

    func watch(by handler: any Handler, _ core: EventLoop.Core) -> Token {
        guard nextTry == nil else { return core.add(handler) }
        return core.add(handler, descriptor: transport.descriptor, events: Readiness.edges)
    }

    /// Goes on after some events; returns true once messages can pass.
    mutating func proceed(_ events: Readiness) throws(UpstreamError) -> Bool {
        if !isReached {
            guard !events.isDisjoint(with: [.writable, .broken]) else { return false }
            let error = Socket.pendingError(transport.descriptor)
            guard error == 0 else { throw .connectFailed(SystemError(code: error)) }
            isReached = true
        }
        switch transport.establish() {
        case .done: return true
        case .wouldBlock, .early: return false
        case .failed(let failure): throw .handshakeFailed(failure)
        }
    }

    mutating func tryAgain(for token: Token, _ core: EventLoop.Core) throws(UpstreamError) {
        guard core.now < deadline else { throw .connectTimeout }
        guard nextTry != nil else { return }
        // A listener that has long been full has many who wait, so the pauses grow.
        let pause = min(max((core.now - began) / 2, Self.pauses.lowerBound), Self.pauses.upperBound)
        do throws(SystemError) {
            let isDone = try Socket.connect(transport.descriptor, to: endpoint)
            nextTry = isDone ? nil : core.now + pause
            if isDone { core.watch(transport.descriptor, events: Readiness.edges, for: token) }
        } catch {
            throw .connectFailed(error)
        }
    }
}
