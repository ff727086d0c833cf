import Primitives

@testable import HTTP

/// A request that a test's server has received; lives on the server's loop.
final class TestRequest: RequestHandler {
    /// The path of the request target.
    let path: String
    let framing: BodyFraming
    let method: HTTP.Method
    let connection: any ResponseStream
    let journal: Journal
    /// The request's body so far.
    private(set) var body: [UInt8] = []
    var text: String { String(decoding: body, as: UTF8.self) }
    /// Called for each piece of the body.
    var onBody: ((TestRequest) -> Void)?
    /// Called when the request is complete.
    var onEnd: ((TestRequest) -> Void)?
    /// Called when there is room for more of the response.
    var onDrained: ((TestRequest) -> Void)?

    init(_ head: RequestHead, _ framing: BodyFraming, _ connection: any ResponseStream, _ journal: Journal) {
        path = head.target.path
        method = head.method
        self.framing = framing
        self.connection = connection
        self.journal = journal
    }

    /// Responds with a complete text.
    func answer(_ text: String, _ status: Status = .ok) {
        connection.start(testHead(status), body: .length(UInt64(text.utf8.count)))
        connection.write(text.utf8.span)
        connection.finish()
    }

    func received(_ bytes: Span<UInt8>) {
        body.append(bytes)
        onBody?(self)
    }

    func receivedEnd(trailers: Headers) {
        var fields: [UInt8] = []
        trailers.write(into: &fields)
        journal.note("end \(path) \(text)\(String(fields.span))")
        onEnd?(self)
    }

    func malformed(_ error: ParseError) {
        journal.note("malformed \(error)")
        if (connection as? ServerConnection)?.state.output == .body {
            connection.abort()
        } else {
            answer("bad", error.status)
        }
    }

    func drained() {
        journal.note("drained")
        onDrained?(self)
    }

    func aborted(_ cause: ClientLoss) {
        journal.note("aborted \(path) \(cause)")
        onBody = nil
        onEnd = nil
        onDrained = nil
    }
}
