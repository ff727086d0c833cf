internal import Primitives

/// One request and its response on an HTTP/2 connection.
///
/// Confined to its connection's loop. The handler and the stream hold each other; both let go at the end of the exchange.
final class HTTP2Stream {
    let id: Int32
    /// Strong, since an exchange may call the stream after the connection has ended; the session lets go of streams.
    let session: HTTP2Session
    var assembler: RequestAssembler
    private var queue = ResponseQueue()
    /// The request between its assembly and its beginning.
    private var request: (head: RequestHead, framing: BodyFraming)?
    /// The rule that it breaks, if it does.
    private var fault: ParseError?
    /// The priority that the request's field asks for; nil without the field.
    private(set) var requestedPriority: Priority?
    var handler: (any RequestHandler)?
    private(set) var state = HTTP2StreamState()
    /// The bytes of the request's body for which the client's window is still closed.
    private var unconsumedBytes = 0
    var bodyPace = Pace()
    /// The pace at which the client opens its window for the response.
    var outputPace = Pace()
    /// True while the response waits for the client's window.
    var isOutputLate = false
    /// The time of the last byte in either direction, for tunnels.
    private(set) var lastActivity: Int64
    /// The request that became a tunnel, if it did (RFC 8441).
    private var extended: RequestAssembler.ExtendedConnect?
    /// The bytes that the client sent before anybody could take them, which its window bounds.
    private var waitingInput: [UInt8] = []
    private var priority = ResponsePriority()
    /// The head that waits for the end of the loop's turn, so that it can be withdrawn.
    private(set) var head: ResponseHead?
    private var trailers: FieldBlock?
    /// The event for which the application waits.
    private var awaited = Awaited.nothing
    private(set) var bytesSent = 0
    /// The bytes that had been sent before the response began.
    private var formerBytesSent = 0
    private let begunAt: Int64
    private var hasSentBody = false
    /// True once the response has been given up for a cause that lies behind the application.
    private(set) var isUpstreamsFault = false
    /// An object of the application that lives as long as the stream.
    private var kept: AnyObject?

    private enum Awaited {
        case nothing, noStuckByte, roomForBody
    }

    /// The length of a piece from which on it is tried to send it without queueing it.
    private static let passingBytesMin = 4096

    init(id: Int32, session: HTTP2Session) {
        self.id = id
        self.session = session
        assembler = RequestAssembler(limits: session.settings.limits)
        begunAt = session.core.now
        lastActivity = begunAt
    }

    /// The age of a stream whose client has got some of the body, in milliseconds.
    var bodyAge: Int64? { hasSentBody ? session.core.now - begunAt : nil }

    /// The bytes of the body that may go into frames.
    var waitingBytes: Int { queue.count }
    /// True while nothing but the client's window or socket keeps the response.
    var waitsForClient: Bool { waitingBytes > 0 || awaited == .roomForBody }
    var isExchanging: Bool { state.isExchanging }
    private var isOpen: Bool { session.engine != nil && state.response != .abandoned }
    /// The bytes that the client takes now.
    private var window: Int { session.engine?.window(stream: id) ?? 0 }

    // MARK: The request

    func received(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        assembler.append(name, value, isTrailer: state.input == .trailers)
    }

    func trailersBegan() { state.trailersBegan() }

    /// Translates the fields into a request, which `begin` hands over.
    func headEnded(endsStream: Bool) {
        state.headEnded(endsStream: endsStream)
        do throws(ParseError) {
            let (head, framing, extended) = try assembler.finish(hasBody: !endsStream)
            self.extended = extended
            requestedPriority = Priority(head.headers)
            request = (head, framing)
        } catch {
            fault = error
        }
    }

    /// Schedules the response as the client asks.
    func prioritize(_ asked: Priority) {
        priority.asked = asked
        session.engine?.setPriority(priority.effective, stream: id)
    }

    private func correctPriority(by headers: borrowing Headers) {
        if priority.correct(by: headers) { session.engine?.setPriority(priority.effective, stream: id) }
    }

    /// True if the request may be served before the TLS handshake is complete.
    var mayBeEarly: Bool {
        request.map { $0.framing == .none && $0.head.mayBeEarly } ?? true
    }

    /// Returns true if the request has no body but may still get one, against its Content-Length; it begins at its end.
    func awaitEmptyEnd() -> Bool {
        guard !state.isRequestEnded, request?.framing == .length(0), state.awaitEmptyEnd() else {
            return false
        }
        bodyPace.restart(at: session.core.now, session.settings.pace)
        return true
    }

    func begin(on application: any Application) {
        if let fault = fault.take() { return refuse(.malformed(fault)) }
        guard let (head, framing) = request.take() else { return }
        let awaitsEnd = framing.hasBody
        state.begin(awaitsEnd: awaitsEnd)
        if awaitsEnd { bodyPace.restart(at: session.core.now, session.settings.pace) }
        handler = application.begin(head, framing: framing, on: self)
        if !isExchanging { handler = nil }
        passWaitingInput()
    }

    /// Responds without a request.
    func refuse(_ refusal: Refusal) {
        state.refuse()
        session.refuse(refusal) { head, body in
            let before = bytesSent
            start(head, body: assembler.isHead ? .none : .length(UInt64(body.count)))
            write(body.span)
            finish()
            return bytesSent - before
        }
        if state.response == .none { session.reset(self, .refusedStream) }
    }

    func received(_ bytes: Span<UInt8>) {
        lastActivity = session.core.now
        bodyPace.passed(bytes.count, at: session.core.now, session.settings.pace)
        unconsumedBytes += bytes.count
        if keepsInput { return waitingInput.append(bytes) }
        handler?.received(bytes)
        if !state.isPaused || handler == nil { consume() }
    }

    func receivedEnd() {
        switch state.requestEnded() {
        case .nothing: break
        case .begin: session.begin(self)
        case .tell:
            do throws(ParseError) {
                handler?.receivedEnd(trailers: try assembler.finishTrailers())
            } catch {
                handler?.malformed(error)
            }
        }
    }

    /// True while nobody takes the client's bytes yet: the request waits for the handshake, or for its tunnel, for which the
    /// client need not wait (RFC 8441 section 4).
    private var keepsInput: Bool {
        isExchanging && !state.hasBegun || extended != nil && !state.isTunnel && handler != nil
    }

    /// Hands over what has come while nobody took it.
    private func passWaitingInput() {
        guard !keepsInput else { return }
        let bytes = exchange(&waitingInput, with: [])
        if !bytes.isEmpty { handler?.received(bytes.span) }
        if !state.isPaused || handler == nil { consume() }
        if state.isRequestEnded { receivedEnd() }
    }

    func resetByClient() { state.resetByClient() }

    private func consume() {
        guard unconsumedBytes > 0 else { return }
        session.engine?.consume(unconsumedBytes, stream: id)
        unconsumedBytes = 0
        session.attendSoon()
    }

    // MARK: The body on its way out

    /// The part of the body that may go into the next frame.
    func bodyPart(countMax: Int) -> FrameEngine.BodyPart {
        let waiting = waitingBytes
        let isEnd = state.isResponseWhole && waiting <= countMax
        if waiting == 0, !isEnd { return .none }
        guard isEnd else { return .bytes(min(waiting, countMax), isEnd: false) }
        guard let trailers else { return .bytes(waiting, isEnd: true) }
        self.trailers = nil
        session.engine?.submitTrailers(trailers, stream: id)
        return .endBeforeTrailers(waiting)
    }

    /// Moves bytes of the body into the connection's output.
    func moveBody(_ count: Int, into output: inout [UInt8]) {
        queue.move(count, into: &output)
        hasSentBody = hasSentBody || count > 0
        lastActivity = session.core.now
        outputPace.passed(count, at: session.core.now, session.settings.pace)
    }

    /// Tells the response's source that there is room again; returns false while it waits for that.
    func reportRoom() -> Bool {
        let isRoom = queue.endPause()
        if isRoom || isAwaitedThere {
            awaited = .nothing
            handler?.drained()
        }
        return !queue.isFull && awaited == .nothing
    }

    private var isAwaitedThere: Bool {
        switch awaited {
        case .nothing: false
        case .noStuckByte: stuckBytes == 0
        case .roomForBody: roomForBody > 0
        }
    }

    /// Hands the head that waits to the engine.
    func submitHead() {
        guard let head = self.head.take() else { return }
        let isOver = state.isResponseWhole && queue.isEmpty && trailers == nil
        let hasBody = !isOver && (state.content == .body || state.content == .tunnel)
        guard session.engine?.submit(FieldBlock(head), stream: id, hasBody: hasBody) != true else { return }
        session.reset(self, .internalError)
    }

    // MARK: Ends

    /// Tells the handler that the client is lost, once.
    func lose(_ cause: ClientLoss) {
        guard isExchanging else { return }
        let handler = handler
        letGo()
        handler?.aborted(cause)
    }

    /// Forgets what is left of the response.
    private func letGo() {
        state.abandon()
        // The session holds a stream for as long as it waits.
        awaited = .nothing
        head = nil
        queue = ResponseQueue()
        handler = nil
    }
}

// MARK: - What the application calls

extension HTTP2Stream: ResponseStream {
    var core: EventLoop.Core { session.core }
    var facts: ConnectionFacts { session.facts }
    var canWrite: Bool { !queue.isFull }
    var roomForBody: Int { canWrite ? max(0, window) : 0 }
    var stuckBytes: Int {
        guard session.engine != nil, waitingBytes > 0 else { return 0 }
        return max(0, waitingBytes - window)
    }
    func awaitWindow() { wait(for: .noStuckByte) }
    func awaitRoomForBody() { wait(for: .roomForBody) }

    private func wait(for awaited: Awaited) {
        guard isOpen else { return }
        self.awaited = awaited
        session.awaitRoom(self)
    }

    func keep(_ object: AnyObject) { kept = object }
    func pauseRequest() { state.pause() }

    func resumeRequest() {
        guard state.resume() else { return }
        bodyPace.restart(at: core.now, session.settings.pace)
        consume()
    }

    func sendInterim(_ head: ResponseHead) {
        // RFC 9113 section 8.6: there is no 101.
        guard isOpen, state.response == .none, head.status.rawValue != 101 else { return }
        bytesSent += head.headers.block.count
        session.engine?.submitInterim(FieldBlock(head), stream: id)
        session.attendSoon()
    }

    func start(_ head: consuming ResponseHead, body: BodyFraming) {
        guard isOpen else { return }
        var body = body
        if extended != nil, head.status.isSuccessful {
            // It would say that the tunnel is open (RFC 8441 section 5).
            head = ResponseHead(status: .badGateway)
            body = .none
        }
        guard state.start(body == .none ? .none : .body) else { return }
        if body != .none { BodyFraming.declare(length: body.length, in: &head.headers) }
        head.headers.removeConnectionFields()
        session.complete(&head)
        correctPriority(by: head.headers)
        formerBytesSent = bytesSent
        // As in HTTP/1.1: how much shorter HPACK makes it, is known only after the exchange has been counted.
        bytesSent += head.headers.block.count
        self.head = consume head
        session.hasResponse(self)
    }

    /// Accepts a protocol on the stream (RFC 8441 section 5): bytes pass both ways as DATA.
    func switchProtocols(_ head: consuming ResponseHead) -> Bool {
        guard isOpen, state.response == .none, let extended else { return false }
        // The client has sent no key, so nobody else notices an upstream that did not understand it.
        if let key = extended.webSocketKey,
            head.headers.first(.secWebSocketAccept) != WebSocketKey.accept(key)
        {
            return false
        }
        _ = state.start(.tunnel)
        var answer = ResponseHead(status: .ok, headers: head.headers)
        answer.headers.removeConnectionFields()
        answer.headers.removeAll([.contentLength, .secWebSocketAccept])
        session.complete(&answer)
        correctPriority(by: answer.headers)
        bytesSent += answer.headers.block.count
        self.head = answer
        session.hasResponse(self)
        passWaitingInput()
        return true
    }

    func write(_ piece: Span<UInt8>) {
        guard isOpen, state.takesBytes, !piece.isEmpty else { return }
        let wasEmpty = queue.isEmpty
        bytesSent += piece.count
        let passed = wasEmpty && head == nil && piece.count >= Self.passingBytesMin ? pass(piece) : 0
        guard passed < piece.count, isOpen else { return session.attendSoon() }
        if queue.append(piece.extracting(passed..<piece.count)) { session.awaitRoom(self) }
        if wasEmpty, head == nil { session.engine?.resume(stream: id) }
        session.attendSoon()
    }

    /// Sends as much of a piece at once as goes, so that it is copied once; returns how many bytes went.
    private func pass(_ piece: Span<UInt8>) -> Int {
        session.engine?.resume(stream: id)
        return unsafe piece.withUnsafeBufferPointer { bytes in
            // Safe: the queue forgets the bytes before they end.
            unsafe queue.borrow(bytes)
            session.sendAtOnce(bytes.count) { queue.isEmpty || !state.isExchanging }
            return bytes.count - queue.endBorrowing()
        }
    }

    func finish(trailers: Headers) {
        guard isOpen, state.finish() else { return }
        awaited = .nothing
        handler = nil
        if state.content == .body {
            let fields = FieldBlock(trailers: trailers)
            bytesSent += fields.bytes.count
            if !fields.isEmpty { self.trailers = fields }
        }
        if head == nil { session.engine?.resume(stream: id) }
        session.attendSoon()
    }

    func withdraw() -> Bool {
        guard isOpen, head != nil, state.withdraw() else { return false }
        head = nil
        queue = ResponseQueue()
        bytesSent = formerBytesSent
        return true
    }

    func abort(isUpstreams: Bool) {
        guard isOpen else { return }
        isUpstreamsFault = isUpstreams
        letGo()
        session.reset(self, .internalError)
    }
}
