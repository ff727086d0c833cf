import Primitives

@testable import HTTP

/// Records the response to one request of a test; lives on the client's loop.
final class TestResponse: ResponseHandler, Handler {
    /// The connection during the exchange.
    var connection: ClientConnection?
    /// Called with the final head.
    var onHead: ((TestResponse) -> Void)?
    /// Called for each piece of the body, which is then not recorded.
    var onBody: ((TestResponse, Int) -> Void)?
    private let journal: Journal
    private var body: [UInt8] = []

    init(_ journal: Journal) {
        self.journal = journal
    }

    func receivedInterim(_ head: ResponseHead) { journal.note("interim \(head.status.rawValue)") }

    func switchedProtocols(_ head: ResponseHead) { journal.note("switched \(head.status.rawValue)") }

    func receivedHead(_ head: consuming ResponseHead, framing: BodyFraming) {
        journal.note("head \(head.status.rawValue) \(framing)")
        onHead?(self)
    }

    func receivedBody(_ bytes: Span<UInt8>) {
        if let onBody { return onBody(self, bytes.count) }
        body.append(bytes)
    }

    func responseEnded(trailers: Headers) {
        connection = nil
        noteBody()
        var fields: [UInt8] = []
        trailers.write(into: &fields)
        if !fields.isEmpty { journal.note("trailers \(String(fields.span))") }
        journal.note("end")
    }

    func upstreamDrained() { journal.note("drained") }

    func failed(_ error: UpstreamError) {
        connection = nil
        noteBody()
        journal.note("failed \(error.label)")
    }

    /// Adds a line of the test's own.
    func note(_ line: String) { journal.note(line) }

    private func noteBody() {
        if !body.isEmpty { journal.note("body \(String(decoding: body, as: UTF8.self))") }
    }
}

extension UpstreamError {
    fileprivate var label: String {
        switch self {
        case .connectFailed: "connect"
        case .handshakeFailed: "tls"
        case .connectTimeout: "connect-timeout"
        case .stale: "stale"
        case .closedBeforeHead: "closed"
        case .malformed: "malformed"
        case .headTimeout: "response-timeout"
        case .truncated: "truncated"
        case .idleTimeout: "idle-timeout"
        case .http2(let failure): "http2 \(failure)"
        }
    }
}
