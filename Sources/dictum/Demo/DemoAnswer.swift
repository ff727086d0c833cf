internal import HTTP

/// A request that was responded to at once; later events are ignored.
final class DemoAnswer: RequestHandler {
    private let connection: ServerConnection

    /// Sends the response, without the body for HEAD.
    init(_ head: consuming ResponseHead, _ body: [UInt8], isHead: Bool, connection: ServerConnection) {
        self.connection = connection
        if isHead {
            head.headers.append(.contentLength, String(body.count))
            connection.start(head, body: .none)
        } else {
            connection.start(head, body: .length(UInt64(body.count)))
            connection.write(body.span)
        }
        connection.finish()
    }

    func received(_ bytes: Span<UInt8>) {}

    func receivedEnd(trailers: Headers) {}

    func malformed(_ error: ParseError) { connection.abort() }

    func drained() {}

    func aborted(_ cause: ClientLoss) {}
}
