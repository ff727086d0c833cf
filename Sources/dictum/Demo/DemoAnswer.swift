internal import HTTP

/// A request that was responded to at once; later events are ignored.
final class DemoAnswer: RequestHandler {
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
