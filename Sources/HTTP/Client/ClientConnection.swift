internal import Primitives

/// One connection to an upstream: sends a request, passes on the response, and can be used again.
///
/// Confined to its loop. Holds its handler only during an exchange.
package final class ClientConnection: Connection {
    /// The idle connections that it returns to.
    let targetPool: TargetPool
    /// The generation of the pool's settings that it was made with.
    let generation: Int
    let core: EventLoop.Core
    let settings: ClientSettings
    private unowned let pool: ConnectionPool

    let io: ConnectionCore
    var state = ClientStateMachine()
    var request = OutstandingRequest()
    var handler: (any ResponseHandler)?
    private var parser: HeadParser
    private var body: BodyDecoder?
    /// The start of a phase with a deadline of its own: awaiting the head, being idle.
    var phaseBegan: Int64
    /// Nil once the connection is made.
    var connecting: Connecting?
    /// The time at which it began to connect.
    private let dialed = SystemClock.monotonicNanoseconds

    init(
        targetPool: TargetPool, transport: any ConnectionTransport, settings: ClientSettings,
        pool: ConnectionPool,
        core: EventLoop.Core
    ) {
        self.targetPool = targetPool
        self.settings = settings
        self.pool = pool
        self.core = core
        generation = pool.generation
        io = ConnectionCore(transport, now: core.now)
        parser = HeadParser(limits: settings.limits)
        phaseBegan = core.now
        let connecting = Connecting(
            transport, to: targetPool.target.endpoint, now: core.now,
            deadline: core.now + settings.connectTimeout)
        self.connecting = connecting
        io.token = connecting.watch(by: self, core)
    }

    package var peerKey: [UInt8]? { (io.transport as? TLSTransport)?.peerKey }

    package var isReused: Bool { state.isReused }
    package var hasSent: Bool { state.hasSent }
    package var hasReceived: Bool { state.hasReceived }

    // MARK: Events

    package func ready(_ events: Readiness, _ core: EventLoop.Core) {
        io.note(events)
        if state.phase == .connecting, !connected(events) { return }
        serve()
    }

    package func attend(_ core: EventLoop.Core) { serve() }

    func serve() {
        if state.phase != .connecting {
            // Bytes that came before the request was sent, even in this batch of events, are no response to it:
            // `consume` and `inputEnded` find the connection stale.
            if !state.hasSent, isReused { readEarly() }
            flush()
            readInput()
            // Only once everything before the failure has been read: it may be a response.
            if io.isBroken, !io.isReadable { lose(nil) }
        }
        updateDeadline()
    }

    /// Reads the input of a kept connection before its next request is sent.
    ///
    /// The end may have come after the events of this batch were polled, so look again before a request that cannot
    /// be repeated; a body is gone once it has been sent.
    private func readEarly() {
        if !request.method.isIdempotent || request.framing != .none { io.isReadable = true }
        readInput()
    }

    private func connected(_ events: Readiness) -> Bool {
        do throws(UpstreamError) {
            guard try connecting?.proceed(events) == true else { return false }
        } catch {
            lose(error)
            return false
        }
        connecting = nil
        state.connected()
        pool.onConnect(SystemClock.monotonicNanoseconds - dialed)
        phaseBegan = core.now
        io.lastWrite = core.now
        return true
    }

    // MARK: Writing

    private func flush() {
        guard isAlive else { return }
        writeOutput()
        if io.output.isEmpty, state.closesWriting() {
            io.transport?.closeWriting()
            // Only reading sends an end for which the socket has no room now.
            io.isReadable = true
        }
        if io.endPause() { handler?.upstreamDrained() }
    }

    func wrote(_ outcome: WriteOutcome) {
        switch outcome {
        case .wrote(let count):
            if count > 0 { state.bytesWent() }
            io.lastWrite = core.now
            // A response may wait for the rest of its request, whose pace depends on the client.
            if !state.isRequestWhole { restartBodyPace() }
            if io.output.isEmpty, state.isRequestWhole { phaseBegan = core.now }
        case .wouldBlock: break
        // The upstream may have responded before it stopped reading, so read first.
        case .failed: io.noteFailedWrite()
        }
    }

    // MARK: Reading

    var wantsInput: Bool { isAlive && !state.isPaused }

    func received(_ count: Int) {
        io.bodyPace?.passed(count, at: core.now, settings.pace)
    }

    func inputEnded(_ outcome: ReadOutcome) {
        // RFC 9112 section 9.8: a body that ends with the connection is incomplete if TLS or the system says so. A
        // failed write may have consumed the reset that a read would report, so then the end proves nothing.
        if outcome == .end, let body, body.endsWithConnection, !io.isBroken {
            complete(hasSurplus: false)
        } else {
            lose(nil)
        }
    }

    func consume(_ bytes: Span<UInt8>) -> Int {
        guard mayRespond() else { return bytes.count }
        var offset = 0
        do {
            while offset < bytes.count, isAlive, !state.isPaused {
                if body != nil {
                    offset = try consumeBody(bytes, from: offset)
                } else {
                    guard let end = try consumeHead(bytes, from: offset) else { return offset }
                    offset = end
                }
            }
        } catch {
            lose(.malformed(error))
            return bytes.count
        }
        return offset
    }

    /// Records that bytes came; ends the connection and returns false if no request can have caused them.
    private func mayRespond() -> Bool {
        guard state.phase != .idle else {
            close()
            return false
        }
        guard state.hasSent || !isReused else {
            lose(nil)
            return false
        }
        state.bytesCame()
        return true
    }

    private func consumeHead(_ bytes: Span<UInt8>, from offset: Int) throws(ParseError) -> Int? {
        guard state.phase == .awaitingHead else { return nil }
        guard let head = try parser.parseResponse(bytes.extracting(offset..<bytes.count)) else {
            return nil
        }
        let end = offset + parser.consumed
        if head.status.isInformational {
            try take(interim: head)
            return end
        }
        let framing = try BodyFraming.ofResponse(head, toRequest: request.method)
        let decoder = BodyDecoder(framing, limits: settings.limits)
        body = decoder
        // A response without a length may be a stream of events, which has no pace.
        if case .length = framing, !decoder.isComplete {
            io.bodyPace = Pace(at: core.now, settings.pace)
        }
        let beginsLogin = head.status == .unauthorized && head.headers.namesConnectionLogin(.wwwAuthenticate)
        state.headCame(
            keepsAlive: head.keepsAlive && !beginsLogin, endsWithConnection: framing == .untilClose)
        handler?.receivedHead(consume head, framing: framing)
        if let body, body.isComplete { complete(hasSurplus: end < bytes.count) }
        return end
    }

    private func take(interim head: ResponseHead) throws(ParseError) {
        if head.status == .switchingProtocols {
            // A switch of protocols without a request for it is malformed.
            guard request.asksUpgrade, head.headers.contains(.upgrade) else { throw .unexpectedInterim }
            request.framing = .untilClose
            body = BodyDecoder(.untilClose, limits: settings.limits)
            state.protocolSwitched()
            handler?.switchedProtocols(head)
            return
        }
        request.interimCount += 1
        guard request.interimCount <= settings.interimMax else { throw .unexpectedInterim }
        handler?.receivedInterim(head)
    }

    private func consumeBody(_ bytes: Span<UInt8>, from offset: Int) throws(ParseError) -> Int {
        // A copy, because the handler may call back while the decoder is at work.
        guard var decoder = body else { return offset }
        let end = try decoder.decode(bytes, from: offset) { piece in handler?.receivedBody(piece) }
        guard isAlive, body != nil else { return bytes.count }
        body = decoder
        if decoder.isComplete { complete(hasSurplus: end < bytes.count) }
        return end
    }

    // MARK: Ends

    private func complete(hasSurplus: Bool) {
        let trailers = body?.trailers ?? Headers()
        body = nil
        io.bodyPace = nil
        let handler = handler
        self.handler = nil
        // What an early response has left of its request must not go before the next one, least of all on a new connection,
        // to which a request is carried over with the waiting output.
        let hasSurplus = hasSurplus || !io.output.isEmpty
        if state.responseEnded(hasSurplus: hasSurplus || io.endIsNear || io.isBroken) {
            phaseBegan = core.now
            handler?.responseEnded(trailers: trailers)
            pool.release(self)
        } else {
            close()
            handler?.responseEnded(trailers: trailers)
        }
    }

    /// Ends a lost connection; `error` gives the reason if the state does not.
    @inline(never)
    func lose(_ error: UpstreamError?) {
        guard isAlive else { return }
        let meaning = state.meaningOfLoss
        let handler = handler
        self.handler = nil
        close()
        if let meaning { handler?.failed(error ?? meaning) }
    }

    func close() {
        guard isAlive else { return }
        release()
        connecting = nil
        body = nil
        state.closed()
        pool.closed(self)
    }
}
