internal import CLinux
internal import Primitives

/// One connection to an upstream: sends a request, passes on the response, and can be used again.
///
/// Confined to its loop. Holds its handler only during an exchange.
package final class ClientConnection: Handler {
    /// The idle list that it returns to.
    let lane: UpstreamLane

    /// The generation of the pool's settings that it was made with.
    let generation: Int
    let core: EventLoop.Core
    let settings: ClientSettings
    private unowned let pool: ConnectionPool
    var transport: (any Transport)?
    var token = Token.none
    var state = ClientStateMachine()
    var handler: (any ResponseHandler)?
    var request = ClientRequest()
    var output = OutputBuffer()
    private var parser: HeadParser
    private var body: BodyDecoder?
    private var pending: [UInt8] = []
    var interimCount = 0
    /// True once the socket is connected; the TLS handshake may still be incomplete.
    private var isReached = false
    private var isReadable = false
    /// True while reading waits for room to write.
    private var readsOnceWritable = false
    private var endIsNear = false
    var isPaused = false
    var isFull = false
    private var isBroken = false
    /// True once the protocol has changed: the bytes are no HTTP messages any more.
    var isTunnel = false
    private var isWritingClosed = false
    /// True once a byte of the current request has been sent.
    package var hasSent: Bool { hasBegun }
    /// True once a byte of its response has come.
    package var hasReceived: Bool { hasAnswer }
    /// `hasSent` for this module alone, see `EventLoop.Core.clock`.
    var hasBegun = false
    /// `hasReceived` for this module alone.
    var hasAnswer = false
    /// The number of bytes that the upstream had taken at the last look.
    var takenBytes = 0
    /// The start of a phase with a deadline of its own: connecting, awaiting the head, being idle.
    var phaseBegan: Int64
    var lastProgress: Int64
    /// The pace of a response of known length; one without may be a stream of events.
    var bodyPace: Pace?

    init(
        lane: UpstreamLane, transport: any Transport, settings: ClientSettings, pool: ConnectionPool,
        core: EventLoop.Core
    ) {
        self.lane = lane
        self.transport = transport
        self.settings = settings
        self.pool = pool
        self.core = core
        generation = pool.generation
        parser = HeadParser(limits: settings.limits)
        phaseBegan = core.now
        lastProgress = core.now
        token = core.add(self, descriptor: transport.descriptor, events: Readiness.edges)
    }

    /// The public key of the upstream's certificate (SubjectPublicKeyInfo in DER); nil without TLS.
    package var peerKey: [UInt8]? { (transport as? TLSTransport)?.peerKey }

    /// True if it has carried an exchange before, so that it may be stale.
    package var isReused: Bool { state.exchanges > 0 }

    // MARK: Events

    private static let input: Readiness = [.readable, .peerClosed, .broken]
    private static let lowWaterBytes = 16 * 1024

    package func ready(_ events: Readiness, _ core: EventLoop.Core) {
        if !events.isDisjoint(with: Self.input) { isReadable = true }
        if !events.isDisjoint(with: [.peerClosed, .broken]) { endIsNear = true }
        if readsOnceWritable, events.contains(.writable) {
            readsOnceWritable = false
            isReadable = true
        }
        if state.phase == .connecting, !connected(events) { return }
        serve()
    }

    package func attend(_ core: EventLoop.Core) {
        serve()
    }

    private func serve() {
        if state.phase != .connecting {
            // Bytes that came before the request was sent, even in this batch of events, are no response to it:
            // `take` and `ended` find the connection stale.
            if !hasBegun, isReused { readEarly() }
            flush()
            readInput()
            // Only once everything before the failure has been read: it may be a response.
            if isBroken, !isReadable { lose(nil) }
        }
        updateDeadline()
    }

    /// Reads the input of a kept connection before its next request is sent.
    ///
    /// The end may have come after the events of this batch were polled, so look again before a request that
    /// cannot be repeated.
    private func readEarly() {
        if !request.method.isIdempotent { isReadable = true }
        readInput()
    }

    private func connected(_ events: Readiness) -> Bool {
        guard let transport else { return false }
        if !isReached {
            guard !events.isDisjoint(with: [.writable, .broken]) else { return false }
            let error = CLinux_socket_error(transport.descriptor)
            guard error == 0 else {
                lose(.connectFailed(SystemError(code: error)))
                return false
            }
            isReached = true
        }
        switch transport.establish() {
        case .done: break
        case .wouldBlock, .early: return false
        case .failed(let failure):
            lose(.handshakeFailed(failure))
            return false
        }
        state.connected()
        phaseBegan = core.now
        lastProgress = core.now
        return true
    }

    // MARK: Writing

    private func flush() {
        guard let transport else { return }
        if !output.isEmpty {
            let outcome = output.offer(to: transport)
            changeOutput { $0.took(outcome) }
            note(outcome)
        }
        if isTunnel, state.isRequestWhole, output.isEmpty, !isWritingClosed {
            isWritingClosed = true
            transport.closeWriting()
        }
        if isFull, output.count <= Self.lowWaterBytes {
            isFull = false
            handler?.upstreamDrained()
        }
    }

    func note(_ outcome: WriteOutcome) {
        switch outcome {
        case .wrote(let count):
            if count > 0 { hasBegun = true }
            lastProgress = core.now
            // A response may wait for the rest of its request, whose pace depends on the client.
            if !state.isRequestWhole { bodyPace?.restart(at: core.now, idleTimeout: settings.idleTimeout) }
            if output.isEmpty, state.isRequestWhole { phaseBegan = core.now }
        case .wouldBlock: break
        // The upstream may have responded before it stopped reading, so read first.
        case .failed:
            isBroken = true
            isReadable = true
            endIsNear = true
        }
    }

    // MARK: Reading

    private func readInput() {
        var rounds = 0
        if !pending.isEmpty, wantsInput { takePending() }
        while isReadable, wantsInput, let transport {
            rounds += 1
            guard rounds <= 16 else { return core.attend(token) }
            switch core.readBuffer.fill(transport) {
            case .bytes(let count, let mayHaveMore):
                lastProgress = core.now
                bodyPace?.passed(
                    count, at: core.now, idleTimeout: settings.idleTimeout, bytesPerSecond: settings.bodyRate)
                isReadable = mayHaveMore || endIsNear
                if count > 0 { core.readBuffer.withBytes(count) { take($0) } }
            case .wouldBlock:
                isReadable = false
            case .wouldBlockUntilWritable:
                isReadable = false
                readsOnceWritable = true
            case .end:
                isReadable = false
                ended()
            // RFC 9112 section 9.8: a body that ends with the connection is incomplete then.
            case .cutOff, .failed:
                isReadable = false
                lose(nil)
            }
        }
    }

    private var wantsInput: Bool { transport != nil && !isPaused }

    private func take(_ bytes: Span<UInt8>) {
        // Unexpected bytes: the connection is of no further use.
        guard state.phase != .idle else { return close() }
        guard hasBegun || !isReused else { return lose(nil) }
        hasAnswer = true
        state.bytesCame()
        guard pending.isEmpty else {
            pending.append(bytes)
            return takePending()
        }
        let used = consume(bytes)
        if transport != nil, used < bytes.count { pending.append(bytes.extracting(used..<bytes.count)) }
    }

    private func takePending() {
        let bytes = pending
        pending = []
        let used = consume(bytes.span)
        guard transport != nil, used < bytes.count else { return }
        pending = used == 0 ? bytes : [UInt8](bytes[used...])
    }

    private func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        do {
            while offset < bytes.count, transport != nil, !isPaused {
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

    private func consumeHead(_ bytes: Span<UInt8>, from offset: Int) throws(ParseError) -> Int? {
        guard case .awaitingHead = state.phase else { return nil }
        guard let head = try parser.parseResponse(bytes.extracting(offset..<bytes.count)) else { return nil }
        let end = offset + parser.consumed
        if head.status.isInformational {
            try take(interim: head)
            return end
        }
        let framing = try BodyFraming.ofResponse(head, toRequest: request.method)
        let decoder = BodyDecoder(framing, limits: settings.limits)
        body = decoder
        if case .length = framing, !decoder.isComplete {
            bodyPace = Pace()
            bodyPace?.restart(at: core.now, idleTimeout: settings.idleTimeout)
        }
        state.headCame(keepsAlive: head.keepsAlive, endsWithConnection: framing == .untilClose)
        handler?.receivedHead(consume head, framing: framing)
        if let body, body.isComplete { complete(hasSurplus: end < bytes.count) }
        return end
    }

    private func take(interim head: ResponseHead) throws(ParseError) {
        if head.status == .switchingProtocols {
            // A switch of protocols without a request for it is malformed.
            guard request.asksUpgrade, head.headers.contains(.upgrade) else { throw .unexpectedInterim }
            isTunnel = true
            request.framing = .untilClose
            body = BodyDecoder(.untilClose, limits: settings.limits)
            state.protocolSwitched()
            handler?.switchedProtocols(head)
            return
        }
        interimCount += 1
        guard interimCount <= settings.interimMax else { throw .unexpectedInterim }
        handler?.receivedInterim(head)
    }

    private func consumeBody(_ bytes: Span<UInt8>, from offset: Int) throws(ParseError) -> Int {
        // A copy, because the handler may call back while the decoder is at work.
        guard var decoder = body else { return offset }
        let end = try decoder.decode(bytes, from: offset) { piece in handler?.receivedBody(piece) }
        guard transport != nil, body != nil else { return bytes.count }
        body = decoder
        if decoder.isComplete { complete(hasSurplus: end < bytes.count) }
        return end
    }

    // MARK: Ends

    private func complete(hasSurplus: Bool) {
        let trailers = body?.trailers ?? Headers()
        body = nil
        bodyPace = nil
        // A full receiver does not concern the next request, and an idle connection must notice its end.
        isPaused = false
        let handler = handler
        self.handler = nil
        if state.answerEnded(hasSurplus: hasSurplus || endIsNear || isBroken) {
            phaseBegan = core.now
            handler?.responseEnded(trailers: trailers)
            pool.release(self)
        } else {
            close()
            handler?.responseEnded(trailers: trailers)
        }
    }

    private func ended() {
        // A failed write may have consumed the reset that a read would report, so the end proves nothing.
        if let body, body.endsWithConnection, !isBroken { return complete(hasSurplus: false) }
        lose(nil)
    }

    /// Ends a lost connection; `error` gives the reason if the state does not.
    func lose(_ error: UpstreamError?) {
        guard transport != nil else { return }
        let meaning = state.meaningOfLoss
        let handler = handler
        self.handler = nil
        close()
        if let meaning { handler?.failed(error ?? meaning) }
    }

    func close() {
        guard transport != nil else { return }
        core.remove(token)
        transport = nil
        body = nil
        pending = []
        state.closed()
        pool.closed(self)
    }
}
