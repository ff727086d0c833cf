/// Performs the TLS handshake of one accepted connection within its time limit.
///
/// Confined to its loop. Its owner holds it until the ending is called, once.
final class TLSHandshake: Handler {
    typealias Ending = (Result<TLSFacts, TLSFailure>) -> Void

    private let transport: TLSTransport
    private let core: EventLoop.Core
    private var token = Token.none
    private var onEnd: Ending?

    /// Waits until `deadline` at most, in milliseconds of the loop's clock.
    init(_ transport: TLSTransport, core: EventLoop.Core, deadline: Int64) {
        self.transport = transport
        self.core = core
        token = core.add(self, descriptor: transport.descriptor, events: Readiness.edges)
        core.setDeadline(token, deadline)
    }

    /// Starts the handshake; the loop sends the first event.
    func start(onEnd: @escaping Ending) {
        self.onEnd = onEnd
    }

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        switch transport.establish() {
        case .wouldBlock: break
        case .done, .early: end(.success(transport.facts))
        case .failed(let failure):
            if failure == .plainHTTP { transport.sayInClear(Self.plainResponse) }
            end(.failure(failure))
        }
    }

    func expired(_ core: EventLoop.Core) { end(.failure(.timedOut)) }

    /// Leaves the handshake only a moment, because the listener stops.
    func hurry(_ core: EventLoop.Core) {
        core.setDeadline(token, core.now + ServerSettings.lastRequestGrace)
    }

    /// Gives up, because the time for draining is over.
    func cancel() { end(.failure(.closed)) }

    private func end(_ result: Result<TLSFacts, TLSFailure>) {
        guard let onEnd else { return }
        self.onEnd = nil
        // If the connection goes on, its socket gets another token.
        core.unwatch(transport.descriptor)
        core.remove(token)
        onEnd(result)
    }

    private static let plainResponse = {
        let text = "400 Bad Request: this port speaks TLS; use https.\n"
        let head = """
            HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
            Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n
            """
        return Array((head + text).utf8)
    }()
}

/// The outcome of a TLS handshake, as metrics name it.
package enum HandshakeResult: String, CaseIterable, Sendable {
    /// With a new session.
    case full
    case resumed, failed
    case timedOut = "timed-out"

    init(_ outcome: Result<TLSFacts, TLSFailure>) {
        switch outcome {
        case .success(let facts): self = facts.isResumed ? .resumed : .full
        case .failure(.timedOut): self = .timedOut
        case .failure: self = .failed
        }
    }
}
