internal import Primitives

/// One client's connection: reads requests, passes them to the application, writes the responses.
///
/// Confined to its loop. A request's handler and the connection hold each other; both let go at the end of the
/// exchange.
package final class ServerConnection: Handler {
    /// The client's address; nil if it is unknown.
    ///
    /// Behind a proxy with the PROXY protocol: the address of the proxy's client.
    package let peer: Endpoint?
    /// True if the client's connection was TLS, by its own handshake or by the PROXY header; nil if neither
    /// tells.
    package let isPeerTLS: Bool?
    /// The properties of its TLS; nil without TLS.
    package let tls: TLSFacts?
    /// True while the TLS handshake is incomplete, when a request may be a replay (RFC 8446 section 8).
    package var isEarly: Bool { awaitsHandshake }
    /// `isEarly` for this module alone, see `EventLoop.Core.clock`.
    var awaitsHandshake: Bool
    /// Receives the outcome of a handshake that is not complete yet; nil for all others.
    var onHandshakeEnd: TLSHandshake.Ending?
    package let core: EventLoop.Core
    /// A value that the application keeps with the connection between requests.
    package var attachment: AnyObject?
    package let settings: ServerSettings
    var transport: (any Transport)?
    var token = Token.none
    var state = ServerStateMachine()
    var output = OutputBuffer()
    var handler: (any RequestHandler)?
    /// The framing of the response in progress.
    var answerFraming = BodyFraming.none
    /// The start of the response in progress, so that it can be withdrawn.
    var answerBeginning = AnswerBeginning()
    var clientVersion = HTTPVersion.http11
    var isFull = false
    /// The step to take once the output is empty.
    var afterFlush: ServerStateMachine.Next?
    /// True once the protocol has changed (RFC 9110 section 7.8): the bytes are no HTTP messages any more.
    var isTunnel = false
    /// The decoder of the request's body; nil if none is awaited.
    var body: BodyDecoder?
    var lastRead: Int64
    /// The pace of the request's body, including its exchange with the response.
    var bodyPace = Pace()
    /// The pace at which the client takes the output.
    var outputPace = Pace()
    /// The number of bytes that the client had taken at the last look.
    var takenBytes = 0
    /// True while output has been waiting since the last event.
    var isOutputLate = false

    private let application: any Application
    private let onClose: (ServerConnection) -> Void
    private var parser: HeadParser
    private var pending: [UInt8] = []
    var isReadable = false
    /// True while reading waits for room to write.
    private var readsOnceWritable = false
    /// True once the peer's end has been reported.
    ///
    /// It is reported once only; reading finds it.
    private var endIsNear = false
    var isPaused = false
    /// The time limit for the first byte of the next head, then for its last.
    var headDeadline: Int64
    /// The time limit for the rest of the handshake.
    let handshakeDeadline: Int64
    var peerClosedAt: Int64 = 0
    var lingerUntil: Int64 = 0
    var lastWrite: Int64
    var isBroken = false

    init(
        transport: any Transport, peer: Endpoint?, application: any Application, settings: ServerSettings,
        core: EventLoop.Core, isPeerTLS: Bool? = nil, tls: TLSFacts? = nil,
        onClose: @escaping (ServerConnection) -> Void
    ) {
        self.isPeerTLS = tls == nil ? isPeerTLS : true
        self.tls = tls
        awaitsHandshake = tls?.isEarly ?? false
        self.transport = transport
        self.peer = peer
        self.application = application
        self.settings = settings
        self.core = core
        self.onClose = onClose
        parser = HeadParser(limits: settings.limits)
        headDeadline = core.now + settings.headTimeout
        handshakeDeadline = headDeadline
        lastRead = core.now
        lastWrite = core.now
    }

    func start() {
        guard let transport else { return }
        token = core.add(self, descriptor: transport.descriptor, events: Readiness.edges)
        if tls != nil {
            // Bytes that came with the end of the handshake have already left the socket.
            isReadable = true
            core.attend(token)
        }
        updateDeadline()
    }

    // MARK: Events

    package func ready(_ events: Readiness, _ core: EventLoop.Core) {
        if !events.isDisjoint(with: [.readable, .peerClosed, .broken]) { isReadable = true }
        if !events.isDisjoint(with: [.peerClosed, .broken]) { endIsNear = true }
        if readsOnceWritable, events.contains(.writable) {
            readsOnceWritable = false
            isReadable = true
        }
        if !state.wantsInput {
            // While input is not read, reading cannot find the end.
            if events.contains(.broken) { return lose(.closed) }
            if events.contains(.peerClosed) { peerClosed() }
        }
        serve()
    }

    package func attend(_ core: EventLoop.Core) {
        serve()
    }

    private func serve() {
        if awaitsHandshake { goOnWithHandshake() }
        flush()
        readInput()
        // An end that was reported together with the request is not reported again while input is not read.
        if endIsNear, !state.wantsInput, !state.isPeerClosed { peerClosed() }
        if isBroken { lose(.closed) }
        updateDeadline()
    }

    // MARK: Reading

    private func readInput() {
        var rounds = 0
        if !pending.isEmpty, wantsInput { takePending() }
        while isReadable, wantsInput, let transport {
            rounds += 1
            // Other connections want their turn, so continue after them.
            guard rounds <= 16 else { return core.attend(token) }
            switch core.readBuffer.fill(transport) {
            case .bytes(let count, let mayHaveMore):
                lastRead = core.now
                if case .body = state.input { note(count, in: &bodyPace) }
                isReadable = mayHaveMore || endIsNear
                core.readBuffer.withBytes(count) { take($0) }
            case .wouldBlock:
                isReadable = false
            case .wouldBlockUntilWritable:
                isReadable = false
                readsOnceWritable = true
            case .end:
                isReadable = false
                peerClosed()
            case .cutOff:
                isReadable = false
                // A message shows its own end; the bytes of a tunnel do not.
                if isTunnel { lose(.closed) } else { peerClosed() }
            case .failed:
                lose(.closed)
            }
        }
    }

    private var wantsInput: Bool {
        guard transport != nil, state.wantsInput, afterFlush == nil else { return false }
        return if case .body = state.input { !isPaused } else { true }
    }

    private func take(_ bytes: Span<UInt8>) {
        guard pending.isEmpty else {
            pending.append(bytes)
            return takePending()
        }
        let used = consume(bytes)
        if transport != nil, used < bytes.count {
            pending.append(bytes.extracting(used..<bytes.count))
        }
    }

    private func takePending() {
        let bytes = pending
        pending = []
        let used = consume(bytes.span)
        guard transport != nil, used < bytes.count else { return }
        pending = used == 0 ? bytes : [UInt8](bytes[used...])
    }

    /// Processes `bytes` as far as the state allows; returns the number of bytes used.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        while offset < bytes.count, transport != nil {
            switch state.input {
            case .discarded:
                return bytes.count
            case .complete:
                return offset
            case .body:
                if isPaused { return offset }
                offset = consumeBody(bytes, from: offset)
            case .head:
                // RFC 9112 section 9.3.2: a client that does not read its response gets no further ones.
                if afterFlush != nil { return offset }
                guard let end = consumeHead(bytes, from: offset) else { return offset }
                offset = end
            }
        }
        return offset
    }

    private func consumeHead(_ bytes: Span<UInt8>, from offset: Int) -> Int? {
        if case .head(isPartial: false) = state.input {
            state.headIsPartial()
            headDeadline = core.now + settings.headTimeout
        }
        do {
            guard let head = try parser.parseRequest(bytes.extracting(offset..<bytes.count)) else {
                return nil
            }
            let consumed = parser.consumed
            // A request that is not begun now is read again from its first byte once the handshake is complete.
            guard !awaitsHandshake || head.mayBeEarly else { return nil }
            try begin(consume head)
            return offset + consumed
        } catch {
            refuse(.malformed(error))
            return bytes.count
        }
    }

    private func begin(_ head: consuming RequestHead) throws(ParseError) {
        let framing = try BodyFraming.ofRequest(head)
        let decoder = BodyDecoder(framing, limits: settings.limits)
        body = decoder.isComplete ? nil : decoder
        clientVersion = head.version
        isPaused = false
        isFull = false
        if body != nil { bodyPace.restart(at: core.now, idleTimeout: settings.idleTimeout) }
        state.begin(hasBody: body != nil, keepsAlive: head.keepsAlive)
        handler = application.begin(head, framing: framing, on: self)
        if transport == nil || !state.isExchanging { handler = nil }
    }

    private func consumeBody(_ bytes: Span<UInt8>, from offset: Int) -> Int {
        // A copy, because the handler may call back while the decoder is at work.
        guard var decoder = body else { return bytes.count }
        do {
            let end = try decoder.decode(bytes, from: offset) { piece in handler?.received(piece) }
            guard transport != nil, case .body = state.input else { return bytes.count }
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

    /// Pauses reading of the request's body, because its receiver is full.
    package func pauseRequest() {
        isPaused = true
    }

    /// Resumes reading after the events of this batch.
    package func resumeRequest() {
        guard isPaused else { return }
        isPaused = false
        lastRead = core.now
        bodyPace.restart(at: core.now, idleTimeout: settings.idleTimeout)
        core.attend(token)
    }

    // MARK: Ends

    private func peerClosed() {
        guard transport != nil else { return }
        if case .body = state.input {
            guard isTunnel else { return lose(.closed) }
            state.requestEnded()
            handler?.receivedEnd(trailers: Headers())
        }
        peerClosedAt = core.now
        if state.peerClosed(), output.isEmpty { close() }
    }

    func refuse(_ refusal: Refusal) {
        guard transport != nil else { return }
        state.begin(hasBody: true, keepsAlive: false)
        var isAnswered = false
        application.refuse(refusal, from: peer) { head, body in
            let before = bytesSent
            start(head, body: .length(UInt64(body.count)))
            write(body.span)
            finish()
            isAnswered = true
            return bytesSent - before
        }
        if !isAnswered { close() }
    }

    /// Ends the connection with the next response, or without one if no request comes within a grace.
    func stop() {
        state.stop()
        // A request that has arrived unread still gets its response.
        isReadable = true
        serve()
        guard transport != nil else { return }
        if state.isPeerClosed, !state.isExchanging, output.isEmpty { return close() }
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
            transport?.closeWriting()
            lingerUntil = core.now + Self.lingerMilliseconds
            lastRead = core.now
            body = nil
            pending = []
            isReadable = true
        }
    }

    private static let lingerMilliseconds: Int64 = 30_000

    var hasUnreadInput: Bool { isReadable || !pending.isEmpty }

    /// Resets the connection of a lost client and tells the handler.
    func lose(_ cause: ClientLoss) {
        guard transport != nil else { return }
        // Missing bytes must not look like a clean end, which may mark a response as complete.
        if state.isExchanging || !output.isEmpty { transport?.resetOnClose() }
        let handler = handler
        close()
        handler?.aborted(cause)
    }

    func close() {
        guard transport != nil else { return }
        core.remove(token)
        transport = nil
        handler = nil
        pending = []
        if awaitsHandshake { endHandshake(.failure(.closed)) }
        onClose(self)
    }
}
