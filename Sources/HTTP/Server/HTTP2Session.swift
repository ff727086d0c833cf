internal import Primitives

/// One client's HTTP/2 connection: its frames and its streams.
///
/// Confined to its loop.
final class HTTP2Session: AcceptedConnection {
    let facts: ConnectionFacts
    let core: EventLoop.Core
    let settings: ServerSettings

    let io: ConnectionCore
    /// Nil once no further frame is read or written.
    private(set) var engine: FrameEngine?
    var streams = HTTP2Streams()
    var budget: HTTP2Budget
    /// The bytes that wait for the socket here at most, and as many again in the system.
    private var quota: OutputQuota
    private var scanner = FrameScanner()
    /// The bytes of the header sections of open streams.
    var fieldBytes = 0
    var waits: HTTP2Waits
    private(set) var ending = Ending.none
    private let application: any Application
    private let onClose: (HTTP2Session) -> Void
    /// True while the engine reads or writes, when it can do neither again.
    private var isInEngine = false
    /// The bytes that went out in this turn of the loop without being queued.
    private var bytesAtOnce = 0
    private static let bytesAtOnceMax = 128 * 1024
    /// The requests that begin in one turn of the loop.
    private static let requestsAtOnceMax = 8

    /// How far the end of the connection has come.
    enum Ending {
        case none
        /// The client knows that the end will come.
        case announced
        /// New requests are refused.
        case refusing
        /// The connection ends with an error.
        case failed
        /// The sending side is closed; input is discarded until the client closes, so that a reset does not destroy
        /// the last frames.
        case lingering
    }

    /// The smallest room that is filled; small DATA frames would cost the client as many window updates.
    private static let frameBytesMin = 8 * 1024

    /// Makes a session, which begins with bytes that have been read already.
    init(
        transport: any ConnectionTransport, facts: ConnectionFacts, application: any Application,
        settings: ServerSettings, core: EventLoop.Core, firstBytes: [UInt8],
        onClose: @escaping (HTTP2Session) -> Void
    ) {
        self.facts = facts
        self.application = application
        self.settings = settings
        self.core = core
        self.onClose = onClose
        io = ConnectionCore(transport, now: core.now)
        io.putBack(firstBytes)
        budget = HTTP2Budget(now: core.now)
        quota = OutputQuota(now: core.now)
        waits = HTTP2Waits(idleUntil: core.now + settings.headTimeout)
    }

    func start() {
        guard let transport = io.transport else { return }
        engine = FrameEngine(owner: self, fieldBytesMax: RequestAssembler.fieldBytesMax(settings.limits))
        guard engine != nil else { return close() }
        Socket.limitUnsent(transport.descriptor, to: quota.bytes)
        takeOver(transport)
        updateDeadline()
    }

    var isExchanging: Bool { streams.open.contains { $0.isExchanging } }

    // MARK: Events

    /// Has `serve` called at the end of this batch of events.
    func attendSoon() { core.attend(io.token) }

    func serve() {
        bytesAtOnce = 0
        if facts.isEarly {
            continueHandshake()
            if !facts.isEarly { beginLateRequests() }
        }
        readInput()
        beginRequests()
        flush()
        if io.isBroken { lose(.closed) }
        closeIfDone()
        updateDeadline()
    }

    // MARK: Reading

    /// True while the client's bytes are of use; one that does not read gets no further frames.
    ///
    /// Bodies that wait do not count: a more urgent request may come while they do.
    var wantsInput: Bool {
        guard isAlive, !io.isBroken else { return false }
        if ending == .lingering { return true }
        guard let engine, engine.wantsRead else { return false }
        return hasRoom || engine.queuedFrames < HTTP2Settings.streamsMax
    }

    func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        // Frame by frame, because each one may change the meaning of the next.
        while offset < bytes.count, ending != .lingering, let engine {
            let (end, frame) = scanner.next(bytes, from: offset)
            if let frame { frameBegan(frame) }
            isInEngine = true
            let error = engine.receive(bytes.extracting(offset..<end))
            isInEngine = false
            if let error {
                // The section of fields that broke the budget has been counted.
                if error == .enhanceYourCalm, fieldBytes <= Self.fieldBytesMax { count(.controlFrames) }
                fail(error)
            }
            offset = end
        }
        return bytes.count
    }

    func inputEnded(_ outcome: ReadOutcome) {
        // Without a way back for window updates no response could be completed.
        if ending == .lingering { close() } else { io.isBroken = true }
    }

    /// Begins a request whose head is complete.
    func begin(_ stream: HTTP2Stream) {
        // RFC 9113 section 8.1.1: DATA against the Content-Length makes the request malformed, so nothing is forwarded yet.
        if stream.awaitEmptyEnd() { return }
        // RFC 8470 section 3: a request that may be a replay waits for the end of the handshake if it asks for a change.
        if facts.isEarly, !stream.mayBeEarly { return streams.lateRequests.append(stream) }
        // A request that the client takes back with the same bytes never begins (CVE-2023-44487).
        stream.state.isRequestEnded ? streams.newRequests.append(stream) : stream.begin(on: application)
    }

    /// Begins some of the requests that have come; a hundred at once would make other connections wait for all of them.
    private func beginRequests() {
        guard !streams.newRequests.isEmpty else { return }
        var new = exchange(&streams.newRequests, with: [])
        for (place, stream) in new.enumerated() {
            // One of them may exceed a limit of the connection.
            guard stream.isExchanging, ending != .failed else { continue }
            if place < Self.requestsAtOnceMax {
                stream.begin(on: application)
            } else {
                streams.newRequests.append(stream)
            }
        }
        guard streams.newRequests.isEmpty else { return attendSoon() }
        // The list keeps its memory.
        while new.popLast() != nil {}
        swap(&new, &streams.newRequests)
    }

    private func beginLateRequests() {
        for stream in exchange(&streams.lateRequests, with: []) where stream.isExchanging {
            stream.begin(on: application)
        }
    }

    /// Counts a request that the engine has reset.
    func reportMalformed() {
        application.refuseWithoutResponse(.malformed(.malformedStream), from: facts.peer)
    }

    /// Responds to a stream without a request; as in HTTP/1.1, a client has few of these.
    func refuse(_ refusal: Refusal, send: (ResponseHead, [UInt8]) -> Int) {
        application.refuse(refusal, from: facts.peer, send: send)
        if !budget.countReset(now: core.now) { exceed(.resets) }
    }

    // MARK: Writing

    /// Notes that a stream has a head to send.
    func hasResponse(_ stream: HTTP2Stream) {
        streams.responding.append(stream)
        attendSoon()
    }

    /// Notes that a stream's source waits for room.
    func awaitRoom(_ stream: HTTP2Stream) {
        if !streams.full.contains(where: { $0 === stream }) { streams.full.append(stream) }
    }

    private func flush() {
        // None is added meanwhile, and the list keeps its memory.
        for stream in streams.responding { stream.submitHead() }
        while streams.responding.popLast() != nil {}
        var rounds = 0
        while !io.isBroken, engine?.wantsWrite == true || !io.output.isEmpty {
            rounds += 1
            // Other connections want their turn, so continue after them.
            guard rounds <= 8 else {
                attendSoon()
                break
            }
            fill()
            writeOutput()
            guard io.output.isEmpty else { break }
        }
        reportRoom()
    }

    /// Moves frames into the output until there are no more or it is full.
    private func fill() {
        guard let engine, isAlive else { return }
        isInEngine = true
        defer { isInEngine = false }
        while hasRoom {
            let count = engine.send { frames in io.output.append(frames) }
            guard let count else { return io.isBroken = true }
            guard count > 0 else { return }
        }
    }

    /// The largest body of a DATA frame that the output has room for.
    var dataBytesMax: Int { quota.bytes - io.output.count - HTTP2Frame.headBytes }

    /// True while another frame may be moved into the output.
    var hasRoom: Bool { dataBytesMax >= Self.frameBytesMin }

    /// Sends as much as the socket takes at once, while a stream passes bytes that it would have to copy otherwise.
    func sendAtOnce(_ count: Int, _ isDone: () -> Bool) {
        // A source that never pauses must not keep the loop from other connections.
        guard !isInEngine, bytesAtOnce < Self.bytesAtOnceMax else { return }
        bytesAtOnce += count
        while isAlive, !io.isBroken, !isDone(), hasRoom {
            fill()
            guard !hasRoom else { return }
            writeOutput()
        }
    }

    private func reportRoom() {
        guard !streams.full.isEmpty else { return }
        for stream in exchange(&streams.full, with: []) where !stream.reportRoom() { awaitRoom(stream) }
    }

    func wrote(_ outcome: WriteOutcome) {
        switch outcome {
        case .wrote(let count):
            if io.isOutputLate { io.noteTaken(at: core.now, settings.pace) }
            adaptQuota(count)
        case .wouldBlock: break
        case .failed: io.isBroken = true
        }
    }

    private func adaptQuota(_ written: Int) {
        guard quota.passed(written, at: core.now), let transport = io.transport else { return }
        Socket.limitUnsent(transport.descriptor, to: quota.bytes)
    }

    func reset(_ stream: HTTP2Stream, _ error: HTTP2Error) {
        engine?.reset(stream: stream.id, error)
        attendSoon()
    }

    // MARK: Ends

    /// Counts the breach of a limit that concerns one stream.
    func count(_ limit: HTTP2Limit) { application.count(.limit(limit)) }

    /// Ends the connection because the client has exceeded a limit.
    func exceed(_ limit: HTTP2Limit) {
        guard ending != .failed else { return }
        count(limit)
        terminate(.enhanceYourCalm)
    }

    /// Ends the connection with an error that the client is told.
    func terminate(_ error: HTTP2Error) {
        guard ending != .failed, ending != .lingering else { return }
        ending = .failed
        engine?.terminate(error)
        attendSoon()
    }

    /// Ends the connection after an error that the engine cannot report itself.
    private func fail(_ error: HTTP2Error) {
        guard ending != .failed, let engine else { return }
        ending = .failed
        let frame = engine.goAway(error)
        io.output.append(frame.span)
        loseStreams(.closed)
    }

    func stop() { announceEnd() }

    /// Ends the connection in two steps: the client first learns that the end will come, so that no request on its way
    /// is lost (RFC 9113 section 6.8).
    func announceEnd() {
        guard ending == .none else { return }
        ending = .announced
        engine?.submitShutdownNotice()
        waits.goAwayAt = core.now + HTTP2Waits.goAwayDelay
        updateDeadline()
        attendSoon()
    }

    /// Refuses all new requests; the connection ends once those under way have their responses.
    func refuseRequests() {
        guard ending == .none || ending == .announced else { return }
        ending = .refusing
        engine?.submitGoAway()
    }

    private func closeIfDone() {
        guard isAlive, io.output.isEmpty, ending != .lingering else { return }
        if let engine {
            let isOver = !engine.wantsRead || ending == .refusing && streams.open.isEmpty
            guard isOver, !engine.wantsWrite else { return }
        }
        closeWriting()
    }

    private func closeWriting() {
        loseStreams(.closed)
        ending = .lingering
        waits.lingerUntil = core.now + HTTP2Waits.lingerMilliseconds
        io.transport?.closeWriting()
        readInput()
    }

    private func loseStreams(_ cause: ClientLoss) {
        engine = nil
        for stream in exchange(&streams, with: HTTP2Streams()).open { stream.lose(cause) }
    }

    func lose(_ cause: ClientLoss) {
        guard isAlive else { return }
        // Missing bytes must not look like a clean end.
        if !streams.open.isEmpty || !io.output.isEmpty { io.transport?.resetOnClose() }
        close(cause)
    }

    func close(_ cause: ClientLoss = .closed) {
        guard isAlive else { return }
        release()
        loseStreams(cause)
        endHandshake(.failure(.closed))
        onClose(self)
    }
}
