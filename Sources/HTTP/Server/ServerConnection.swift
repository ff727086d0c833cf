/// One client's connection: reads requests, hands them to the application, writes the answers.
///
/// Confined to its loop. A request's handler holds the connection and the connection the handler; both let go at
/// the end of the exchange.
package final class ServerConnection: Handler {
    /// Who connected; nil when that is not known.
    ///
    /// Behind a proxy that speaks the PROXY protocol: who connected to that.
    package let peer: Endpoint?
    /// Whether the client's connection was TLS: to us, or by the word of such a proxy; nil where there is none.
    package let isPeerTLS: Bool?
    /// What its own TLS has shown; nil without.
    package let tls: TLSFacts?
    /// Whether its TLS handshake is not whole yet: what comes may be somebody's copy (RFC 8446 section 8).
    package var isEarly: Bool { awaitsHandshake }
    /// The same for this module alone, see `EventLoop.Core.clock`.
    var awaitsHandshake: Bool
    /// Who is told what a handshake that is not whole yet comes to; nil for all others.
    var onHandshakeEnd: TLSHandshake.Ending?
    /// The loop it lives on.
    package let core: EventLoop.Core
    /// What the application wants to remember of the connection from one request to the next.
    package var attachment: AnyObject?
    package let settings: ServerSettings
    var transport: (any Transport)?
    var token = Token.none
    var state = ServerStateMachine()
    var output = OutputBuffer()
    var handler: (any RequestHandler)?
    /// How the answer under way is framed.
    var answerFraming = BodyFraming.none
    /// Where the response under way begins, so that it can be withdrawn.
    var answerBeginning = AnswerBeginning()
    var clientVersion = Version.http11
    var isFull = false
    /// What to do when the output has gone.
    var afterFlush: ServerStateMachine.Next?
    /// Whether it has changed its protocol (RFC 9110 section 7.8): its bytes are no messages any more.
    var isTunnel = false
    /// What the request's body is read with; nil where none is awaited.
    var body: BodyDecoder?
    var lastRead: Int64
    /// How the request's body comes, or passes while its answer does.
    var bodyPace = Pace()
    /// How the client takes what waits for it.
    var outputPace = Pace()
    /// What the client had taken when `outputPace` was told last.
    var takenBytes = 0
    /// Whether something has been waiting for the client since the last event.
    var isOutputLate = false

    private let application: any Application
    private let onClose: (ServerConnection) -> Void
    private var parser: HeadParser
    private var pending: [UInt8] = []
    var isReadable = false
    /// Whether reading waits for room to write.
    private var readsOnceWritable = false
    /// The peer's end has been reported, and is not reported again: only reading on finds it.
    private var endIsNear = false
    var isPaused = false
    /// When the head that is awaited must be whole, or its first byte there.
    var headDeadline: Int64
    /// When the rest of the handshake must be there.
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
            // What came with the end of the handshake has been read from the socket already.
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
            // What is not read now cannot tell of the end by itself.
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
        // The end that was reported together with the request is not reported again while nothing is read.
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
            // Others want their turn: go on behind them.
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
                // A message has its own end; what passes after a change of protocol has none.
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

    /// Works through `bytes` as far as the state wants them; returns how many were used.
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
                // RFC 9112 section 9.3.2: answers do not pile up behind one that the client has not taken.
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
            // What is not begun is read again, from its first byte, once the handshake is whole.
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
        // A copy: what the handler does to this connection meanwhile must not meet a decoder at work.
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
            // Without a decoder the rest is thrown away, and the connection ends with the answer.
            body = nil
            handler?.malformed(error)
            return bytes.count
        }
    }

    /// Stops reading the request's body: its receiver is full.
    package func pauseRequest() {
        isPaused = true
    }

    /// Reads on, after the events of this batch.
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
        // A request that has arrived is answered, though nobody has read it yet.
        isReadable = true
        serve()
        guard transport != nil else { return }
        if state.isPeerClosed, !state.isExchanging, output.isEmpty { return close() }
        limitWait()
        updateDeadline()
    }

    /// While the server stops, an idle connection waits for its last request for a moment only.
    private func limitWait() {
        guard state.isStopping, case .head(isPartial: false) = state.input else { return }
        headDeadline = min(headDeadline, core.now + ServerSettings.lastRequestGrace)
    }

    /// Enters the phase that follows an answer.
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

    /// The client is lost: resets the connection and tells the handler.
    func lose(_ cause: ClientLoss) {
        guard transport != nil else { return }
        // What has not gone is missing at the end, and a clean end may be what tells that an answer is whole.
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
