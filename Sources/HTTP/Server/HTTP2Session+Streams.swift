/// What a stream knows of its client: the facts of its connection.
extension HTTP2Stream {
    var peer: Endpoint? { session.peer }
    var isPeerTLS: Bool? { session.isPeerTLS }
    var tls: TLSFacts? { session.tls }
    var isEarly: Bool { session.handshake != nil }
    var core: EventLoop.Core { session.core }
    var redirectPort: UInt16? { session.settings.redirectPort }
    var clientSubjectField: HeaderName? { session.settings.clientSubjectField }
    var alternativeServices: String? { session.settings.alternativeServices }
    var attachment: AnyObject? {
        get { session.attachment }
        set { session.attachment = newValue }
    }
}

/// The calls by which a stream uses its connection. Once the connection carries no frames, they do nothing.
extension HTTP2Session {
    var carriesFrames: Bool { engine != nil }

    func setPriority(_ priority: Priority, of stream: HTTP2Stream) {
        engine?.setPriority(priority, stream: stream.id)
    }

    /// Opens the windows for bytes that the request's receiver has taken.
    func consumed(_ count: Int, of stream: HTTP2Stream) {
        engine?.consume(count, stream: stream.id)
        attendSoon()
    }

    /// Opens the connection's window for bytes of a stream that has ended.
    func discarded(_ count: Int) { engine?.consumeConnection(count) }

    func sendInterim(_ head: ResponseHead, of stream: HTTP2Stream) {
        engine?.submitInterim(FieldBlock(head), stream: stream.id)
        attendSoon()
    }

    func sendHead(_ head: ResponseHead, of stream: HTTP2Stream, hasBody: Bool) {
        guard engine?.submit(FieldBlock(head), stream: stream.id, hasBody: hasBody) != true else { return }
        reset(stream, .internalError)
    }

    func sendTrailers(_ trailers: FieldBlock, of stream: HTTP2Stream) {
        engine?.submitTrailers(trailers, stream: stream.id)
    }

    /// Has the stream asked for its body when the windows are open.
    func hasBody(_ stream: HTTP2Stream) { engine?.resume(stream: stream.id) }

    /// The bytes that the client takes of a stream now.
    func window(of stream: HTTP2Stream) -> Int { engine?.window(stream: stream.id) ?? 0 }
}
