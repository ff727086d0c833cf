internal import Primitives

/// One client's connection: reads requests, passes them to the application, writes the responses.
///
/// Confined to its loop. A request's handler and the connection hold each other; both let go at the end of the
/// exchange.
final class ServerConnection: AcceptedConnection {
    let facts: ConnectionFacts
    let core: EventLoop.Core
    let settings: ServerSettings

    let io: ConnectionCore
    var state = ServerStateMachine()
    var response = ResponseProgress()
    var handler: (any RequestHandler)?
    /// The decoder of the request's body; nil if none is awaited.
    var body: BodyDecoder?
    /// The time limit for the first byte of the next head, then for its last.
    var headDeadline: Int64
    var peerClosedAt: Int64 = 0
    var lingerUntil: Int64 = 0
    private var requestCount: Int32 = 0
    private let application: any Application
    private let onEnd: (ServerConnection, End) -> Void
    private var parser: HeadParser

    enum End {
        case closed
        /// The client has sent the preface of HTTP/2 (RFC 9113 section 3.3): the socket and all bytes so far.
        case preface(any ConnectionTransport, firstBytes: [UInt8])
    }

    init(
        transport: any ConnectionTransport, facts: ConnectionFacts, application: any Application,
        settings: ServerSettings, core: EventLoop.Core, onEnd: @escaping (ServerConnection, End) -> Void
    ) {
        self.facts = facts
        self.application = application
        self.settings = settings
        self.core = core
        self.onEnd = onEnd
        io = ConnectionCore(transport, now: core.now)
        parser = HeadParser(limits: settings.limits)
        headDeadline = core.now + settings.headTimeout
    }

    func start() {
        guard let transport = io.transport else { return }
        io.token = core.add(self, descriptor: transport.descriptor, events: Readiness.edges)
        if facts.tls != nil {
            // Bytes that came with the end of the handshake have already left the socket.
            io.isReadable = true
            core.attend(io.token)
        }
        updateDeadline()
    }

    // MARK: Events

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        io.note(events)
        if !state.wantsInput {
            // While input is not read, reading cannot find the end.
            if events.contains(.broken) { return lose(.closed) }
            if events.contains(.peerClosed) { peerClosed() }
        }
        serve()
    }

    func serve() {
        if facts.isEarly { continueHandshake() }
        flush()
        readInput()
        // An end that was reported together with the request is not reported again while input is not read.
        if io.endIsNear, !state.wantsInput, !state.isPeerClosed { peerClosed() }
        if io.isBroken { lose(.closed) }
        updateDeadline()
    }

    var isExchanging: Bool { state.isExchanging }

    // MARK: Reading

    var wantsInput: Bool { isAlive && state.mayRead }

    func received(_ count: Int) {
        if case .body = state.input { extendBodyPace(by: count) }
    }

    func inputEnded(_ outcome: ReadOutcome) {
        switch outcome {
        // A message shows its own end; the bytes of a tunnel do not.
        case .cutOff where !state.isTunnel, .end: peerClosed()
        default: lose(.closed)
        }
    }

    func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        while offset < bytes.count, isAlive {
            switch state.input {
            case .discarded:
                return bytes.count
            case .complete:
                return offset
            case .body:
                if state.isPaused { return offset }
                offset = consumeBody(bytes, from: offset)
            case .head:
                // RFC 9112 section 9.3.2: a client that does not read its response gets no further ones.
                if state.pendingStep != nil { return offset }
                guard let end = consumeHead(bytes, from: offset) else { return offset }
                offset = end
            }
        }
        return offset
    }

    private func consumeHead(_ bytes: Span<UInt8>, from offset: Int) -> Int? {
        do {
            guard let head = try parser.parseRequest(bytes.extracting(offset..<bytes.count)) else {
                if parser.hasBegun { headHasBegun() }
                return nil
            }
            let consumed = parser.consumed
            // A request that is not begun now is read again from its first byte once the handshake is complete.
            guard !facts.isEarly || head.mayBeEarly else {
                headHasBegun()
                return nil
            }
            try begin(consume head)
            return offset + consumed
        } catch {
            if error == .unsupportedVersion, mayBePreface {
                switch HTTP2Preface.match(bytes.extracting(offset..<bytes.count)) {
                case .none: break
                case .partial:
                    parser.reset()
                    headHasBegun()
                    return nil
                case .whole:
                    handOver(bytes.extracting(offset..<bytes.count))
                    return bytes.count
                }
            }
            refuse(.malformed(error))
            return bytes.count
        }
    }

    /// Limits the time for the rest of a head, unless it is limited.
    private func headHasBegun() {
        guard case .head(isPartial: false) = state.input else { return }
        state.headIsPartial()
        headDeadline = core.now + settings.headTimeout
    }

    /// True if the client may begin HTTP/2 now: without TLS, which has ALPN for that, and with its first bytes.
    private var mayBePreface: Bool {
        settings.protocols.contains(.http2) && facts.tls == nil && bytesSent == 0
    }

    /// Gives the socket to an HTTP/2 session; this connection is over.
    private func handOver(_ bytes: Span<UInt8>) {
        guard let transport = io.takeTransport() else { return }
        core.unwatch(transport.descriptor)
        core.remove(io.token)
        onEnd(self, .preface(transport, firstBytes: [UInt8](copying: bytes)))
    }

    private func begin(_ head: consuming RequestHead) throws(ParseError) {
        let framing = try BodyFraming.ofRequest(head)
        let decoder = BodyDecoder(framing, limits: settings.limits)
        body = decoder.isComplete ? nil : decoder
        response.clientVersion = head.version
        io.isFull = false
        if body != nil { restartBodyPace() }
        requestCount &+= 1
        // Behind a CONNECT the client sends bytes for its tunnel, which must not be read as requests.
        let keepsAlive = head.keepsAlive && head.method != .connect && requestCount < settings.requestsMax
        state.begin(hasBody: body != nil, keepsAlive: keepsAlive)
        handler = application.begin(head, framing: framing, on: self)
        if !isAlive || !state.isExchanging { handler = nil }
    }

    private func consumeBody(_ bytes: Span<UInt8>, from offset: Int) -> Int {
        // A copy, because the handler may call back while the decoder is at work.
        guard var decoder = body else { return bytes.count }
        do {
            let end = try decoder.decode(bytes, from: offset) { piece in handler?.received(piece) }
            guard isAlive, case .body = state.input else { return bytes.count }
            body = decoder.isComplete ? nil : decoder
            if decoder.isComplete {
                state.requestEnded()
                handler?.receivedEnd(trailers: decoder.trailers)
            }
            return end
        } catch {
            // Without a decoder the rest is discarded, and the connection ends with the response.
            body = nil
            handler?.malformed(error)
            return bytes.count
        }
    }

    func pauseRequest() { state.pause() }

    func resumeRequest() {
        guard state.resume() else { return }
        io.lastRead = core.now
        restartBodyPace()
        core.attend(io.token)
    }

    // MARK: Ends

    private func peerClosed() {
        guard isAlive else { return }
        if case .body = state.input {
            guard state.isTunnel else { return lose(.closed) }
            state.requestEnded()
            handler?.receivedEnd(trailers: Headers())
        }
        peerClosedAt = core.now
        if state.peerClosed(), io.output.isEmpty { close() }
    }

    func refuse(_ refusal: Refusal) {
        guard isAlive else { return }
        state.begin(hasBody: true, keepsAlive: false)
        var hasResponse = false
        application.refuse(refusal, from: facts.peer) { head, body in
            let before = bytesSent
            respond(head, body, isHead: false)
            hasResponse = true
            return bytesSent - before
        }
        if !hasResponse { close() }
    }

    /// Ends the connection with the next response, or without one if no request comes within a grace.
    func stop() {
        state.stop()
        // A request that has arrived unread still gets its response.
        io.isReadable = true
        serve()
        guard isAlive else { return }
        if state.isPeerClosed, !state.isExchanging, io.output.isEmpty { return close() }
        limitWait()
        updateDeadline()
    }

    /// Limits the wait of an idle connection for its last request while the server stops.
    private func limitWait() {
        guard state.isStopping, case .head(isPartial: false) = state.input else { return }
        headDeadline = min(headDeadline, core.now + ServerSettings.lastRequestGrace)
    }

    /// Enters the phase that follows a response.
    func proceed(to next: ServerStateMachine.Next) {
        switch next {
        case .request:
            headDeadline = core.now + settings.keepAliveTimeout
            limitWait()
        case .close:
            close()
        case .linger:
            io.transport?.closeWriting()
            lingerUntil = core.now + Self.lingerMilliseconds
            io.lastRead = core.now
            body = nil
            _ = io.takeUnread()
            io.isReadable = true
        }
    }

    private static let lingerMilliseconds: Int64 = 30_000

    /// Resets the connection of a lost client and tells the handler.
    func lose(_ cause: ClientLoss) {
        guard isAlive else { return }
        // Missing bytes must not look like a clean end, which may mark a response as complete.
        if state.isExchanging || !io.output.isEmpty { io.transport?.resetOnClose() }
        let handler = handler
        close()
        handler?.aborted(cause)
    }

    func close() {
        guard isAlive else { return }
        release()
        handler = nil
        endHandshake(.failure(.closed))
        onEnd(self, .closed)
    }
}
