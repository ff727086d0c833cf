internal import Primitives

/// One HTTP/2 connection to a server, for one request at a time.
///
/// Confined to its loop. Holds its handler only during an exchange.
final class HTTP2ClientConnection: Connection, RequestStream {
    private enum Phase {
        case idle, awaitingHead, body, closed
    }

    let core: EventLoop.Core
    let io: ConnectionCore
    private let settings: ClientSettings
    private let scheme: UpstreamTarget.Scheme
    private var engine: FrameEngine?
    private var handler: (any ResponseHandler)?
    private var phase = Phase.idle
    /// The stream of the current request; others can only be pushes that a server began before it knew our SETTINGS.
    private var stream: Int32 = 0
    /// The time from which the current wait counts: for a request, a head, or more of a body.
    private var waitBegan: Int64
    private var method = Method.get
    private var assembler: ResponseAssembler
    private var interimCount = 0
    private var trailers = Headers()
    /// True once the response has come to its end, with the length that it has declared.
    private var isComplete = false
    /// The error code of the server's RST_STREAM.
    private var resetCode: UInt32?
    /// The error code of the server's GOAWAY.
    private var goAwayCode: UInt32?
    private var exchanges = 0
    private var hasHeard = false

    var version: HTTPVersion { .http2 }
    var peerKey: [UInt8]? { (io.transport as? TLSTransport)?.peerKey }

    /// True while another request can begin.
    var isIdle: Bool { phase == .idle && goAwayCode == nil && !io.endIsNear }

    /// Takes over a transport that is connected; nil without memory.
    init?(
        _ transport: any ConnectionTransport, scheme: UpstreamTarget.Scheme, settings: ClientSettings,
        core: EventLoop.Core
    ) {
        self.core = core
        self.settings = settings
        self.scheme = scheme
        io = ConnectionCore(transport, now: core.now)
        assembler = ResponseAssembler(limits: settings.limits)
        waitBegan = core.now
        engine = FrameEngine(client: self, fieldBytesMax: settings.limits.headBytes)
        guard engine != nil else { return nil }
        takeOver(transport)
    }

    // MARK: The request

    func begin(_ head: RequestHead, handler: any ResponseHandler) {
        self.handler = handler
        let fields = FieldBlock(head, scheme: scheme == .https ? "https" : "http")
        guard phase == .idle, let stream = engine?.submitRequest(fields), stream > 0 else {
            return fail(.stale)
        }
        self.stream = stream
        phase = .awaitingHead
        method = head.method
        waitBegan = core.now
        assembler = ResponseAssembler(limits: settings.limits)
        (interimCount, trailers, isComplete, resetCode) = (0, Headers(), false, nil)
        hasHeard = false
        core.attend(io.token)
    }

    func abort() {
        handler = nil
        if phase != .idle { io.transport?.resetOnClose() }
        close()
    }

    // MARK: Events

    func serve() {
        readInput()
        flush()
        // Only once everything before the failure has been read: it may be a response.
        if io.isBroken, !io.isReadable { endOfConnection() }
        // The engine ends a connection whose frames are wrong, and has told the server so.
        if let engine, !engine.wantsRead, !engine.wantsWrite, io.output.isEmpty {
            if let goAwayCode, goAwayCode != 0 {
                fail(.http2(.goAway(goAwayCode)))
            } else {
                fail(.http2(.violation))
            }
        }
        updateDeadline()
    }

    private func flush() {
        guard let engine else { return }
        repeat {
            guard let count = engine.send({ frames in io.output.append(frames) }) else {
                return fail(.http2(.violation))
            }
            if count == 0 { break }
        } while io.output.count < ConnectionCore.highWaterBytes
        writeOutput()
    }

    // MARK: Reading

    /// A server that does not read what is due to it is not read either.
    var wantsInput: Bool { isAlive && io.output.count < ConnectionCore.highWaterBytes }

    func consume(_ bytes: Span<UInt8>) -> Int {
        // The engine must outlive its own call, whatever the handler does.
        guard let engine else { return bytes.count }
        if exchanges == 0, !hasHeard, bytes.count >= 7, bytes.extracting(0..<7).equals("HTTP/1.") {
            fail(.http2(.notSpoken))
        } else if engine.receive(bytes) != nil {
            fail(.http2(.violation))
        }
        hasHeard = true
        return bytes.count
    }

    func inputEnded(_ outcome: ReadOutcome) { endOfConnection() }

    // MARK: Ends

    private func endOfConnection() {
        if let goAwayCode, goAwayCode != 0 { return fail(.http2(.goAway(goAwayCode))) }
        if phase == .body { return fail(.truncated) }
        fail(exchanges > 0 && !hasHeard ? .stale : .closedBeforeHead)
    }

    /// Ends the connection, and the exchange if there is one.
    private func fail(_ error: UpstreamError) {
        let handler = handler
        close()
        handler?.failed(error)
    }

    private func complete() {
        let (handler, trailers) = (handler, trailers)
        self.handler = nil
        io.bodyPace = nil
        phase = .idle
        exchanges += 1
        waitBegan = core.now
        handler?.responseEnded(trailers: trailers)
    }

    private func close() {
        guard isAlive else { return }
        release()
        handler = nil
        engine = nil
        phase = .closed
    }

    // MARK: Deadlines

    func expired(_ core: EventLoop.Core) {
        switch phase {
        case .idle: close()
        case .awaitingHead: fail(.headTimeout)
        case .body: fail(.idleTimeout)
        case .closed: break
        }
    }

    /// Frames of other kinds than the response's extend no deadline.
    private func updateDeadline() {
        guard isAlive else { return }
        core.setDeadline(io.token, deadline)
    }

    private var deadline: Int64? {
        switch phase {
        case .idle: waitBegan + settings.keepAliveTimeout
        case .awaitingHead: waitBegan + settings.responseTimeout
        case .body: io.bodyPace?.deadline ?? waitBegan + settings.idleTimeout
        case .closed: nil
        }
    }
}

extension HTTP2ClientConnection: FrameEngineOwner {
    func field(_ name: Span<UInt8>, _ value: Span<UInt8>, stream id: Int32) -> Bool {
        guard id == stream, handler != nil else { return true }
        do throws(ParseError) {
            try assembler.append(name, value, isTrailer: phase == .body)
        } catch {
            fail(.malformed(error))
        }
        return true
    }

    func fieldsEnded(stream id: Int32, endsStream: Bool) {
        guard id == stream, handler != nil else { return }
        isComplete = endsStream
        guard phase == .awaitingHead else { return trailers = assembler.finishTrailers() }
        do throws(ParseError) {
            try take(assembler.finish())
        } catch {
            fail(.malformed(error))
        }
    }

    private func take(_ head: ResponseHead) throws(ParseError) {
        guard !head.status.isInformational else {
            interimCount += 1
            guard interimCount <= settings.interimMax else { throw .unexpectedInterim }
            handler?.receivedInterim(head)
            return
        }
        var framing = try BodyFraming.ofResponse(head, toRequest: method)
        // The body ends with its stream.
        if framing == .untilClose { framing = .chunked }
        if case .length = framing { io.bodyPace = Pace(at: core.now, settings.pace) }
        phase = .body
        waitBegan = core.now
        handler?.receivedHead(head, framing: framing)
    }

    func data(_ bytes: Span<UInt8>, stream id: Int32) {
        guard id == stream, handler != nil else { return }
        waitBegan = core.now
        io.bodyPace?.passed(bytes.count, at: core.now, settings.pace)
        handler?.receivedBody(bytes)
    }

    func bodyEnded(stream id: Int32) {
        if id == stream { isComplete = true }
    }

    func peerReset(stream id: Int32, error: UInt32) {
        if id == stream { resetCode = error }
    }

    func peerGoesAway(_ error: UInt32) { goAwayCode = error }

    func closed(stream id: Int32, error: UInt32) {
        guard id == stream, handler != nil else { return }
        if let resetCode, !isComplete {
            fail(.http2(resetCode == HTTP2Error.refusedStream.rawValue ? .refused : .reset(resetCode)))
        } else if let goAwayCode, error == HTTP2Error.refusedStream.rawValue {
            // RFC 9113 section 6.8: the server has not seen the request, so another connection may serve it.
            if exchanges > 0 { return fail(.stale) }
            fail(.http2(goAwayCode == 0 ? .refused : .goAway(goAwayCode)))
        } else if isComplete, error == HTTP2Error.noError.rawValue {
            complete()
        } else {
            fail(.http2(.violation))
        }
    }
}
