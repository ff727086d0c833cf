internal import HTTP

/// A request that has been answered at once: what else comes of it is not wanted.
final class DemoAnswer: RequestHandler {
    private let connection: ServerConnection

    /// Answers; to HEAD without the body.
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
