internal import Primitives

/// The parts that a connection needs on either side: transport, unread input, waiting output, readiness, paces.
///
/// Owned by its connection alone. A class, because the compiler proves property by property that accesses do not
/// overlap; of a value it would check at run time every access to any part.
final class ConnectionCore {
    /// Nil once the connection is closed.
    private(set) var transport: (any ConnectionTransport)?
    var token = Token.none

    /// Input that has been read and waits until the state wants it.
    private(set) var unread: [UInt8] = []
    /// True while the socket may have bytes.
    var isReadable = false
    /// True once the peer's end or a failure was reported; it is reported once only, and reading finds it.
    private(set) var endIsNear = false
    /// True while reading waits for room to write.
    private var readsOnceWritable = false
    var lastRead: Int64

    var output = OutputBuffer()
    /// True while the source of the output must pause.
    var isFull = false
    /// True once a write has failed.
    var isBroken = false
    /// The number of bytes that the peer had taken at the last look.
    var takenBytes = 0
    var lastWrite: Int64

    /// The pace of the body that is read; nil if it has none.
    var bodyPace: Pace?
    var outputPace = Pace()
    /// True while output has been waiting since the last event of a server's connection.
    private(set) var isOutputLate = false

    init(_ transport: any ConnectionTransport, now: Int64) {
        self.transport = transport
        lastRead = now
        lastWrite = now
    }

    func takeTransport() -> (any ConnectionTransport)? {
        let taken = transport
        transport = nil
        return taken
    }

    // MARK: Readiness

    func note(_ events: Readiness) {
        if !events.isDisjoint(with: [.readable, .peerClosed, .broken]) { isReadable = true }
        if !events.isDisjoint(with: [.peerClosed, .broken]) { endIsNear = true }
        if readsOnceWritable, events.contains(.writable) {
            readsOnceWritable = false
            isReadable = true
        }
    }

    func note(_ outcome: ReadOutcome, now: Int64) {
        switch outcome {
        case .bytes(_, let mayHaveMore):
            lastRead = now
            isReadable = mayHaveMore || endIsNear
        case .wouldBlockUntilWritable:
            isReadable = false
            readsOnceWritable = true
        case .wouldBlock, .end, .cutOff, .failed:
            isReadable = false
        }
    }

    /// Records a failed write, after which reading may still find what the peer sent before.
    func noteFailedWrite() {
        isBroken = true
        isReadable = true
        endIsNear = true
    }

    // MARK: Input and output

    /// Keeps the input from `offset` on.
    func keep(_ bytes: Span<UInt8>, from offset: Int = 0) {
        guard offset < bytes.count else { return }
        var kept = takeUnread()
        kept.append(bytes.extracting(offset..<bytes.count))
        swap(&kept, &unread)
    }

    /// Takes the unread input out; the caller must put unused bytes back with `keep`.
    func takeUnread() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &unread)
        return taken
    }

    /// Puts back unread input if none of it was used.
    func putBack(_ bytes: consuming [UInt8]) {
        swap(&bytes, &unread)
    }

    /// Begins the pace at which the peer has to take the output, if some is left after an event.
    func paceOutput(at now: Int64, _ limits: Pace.Limits) {
        guard let transport, !output.isEmpty else { return isOutputLate = false }
        guard !isOutputLate else { return }
        isOutputLate = true
        takenBytes = output.takenBytes(from: transport)
        outputPace.restart(at: now, limits)
    }

    /// Extends the peer's deadline for bytes that it has taken; those in the system's buffer do not count.
    func noteTaken(at now: Int64, _ limits: Pace.Limits) {
        guard let transport else { return }
        let taken = output.takenBytes(from: transport)
        guard taken > takenBytes else { return }
        outputPace.passed(taken - takenBytes, at: now, limits)
        takenBytes = taken
    }

    /// Returns true if the source had to pause and may resume now.
    func endPause() -> Bool {
        guard isFull, output.count <= Self.lowWaterBytes else { return false }
        isFull = false
        return true
    }

    /// The amount of waiting output at which the source must pause.
    ///
    /// Slow readers are many. For fast ones the socket's own buffer bridges the pause.
    static let highWaterBytes = 32 * 1024
    /// The amount of waiting output at which the source may resume.
    static let lowWaterBytes = 16 * 1024
    /// The size from which a piece is written at once instead of copied first.
    static let directBytes = 16 * 1024
}

/// A connection of either side: how it reads and writes through its core.
protocol Connection: Handler {
    var core: EventLoop.Core { get }
    var io: ConnectionCore { get }
    /// True while the connection can use bytes of the peer.
    var wantsInput: Bool { get }
    /// Processes `bytes` as far as the state allows; returns the number of bytes used.
    func consume(_ bytes: Span<UInt8>) -> Int
    /// Called before `consume` with the number of bytes that were read.
    func received(_ count: Int)
    /// The input has ended with one of `end`, `cutOff` and `failed`.
    func inputEnded(_ outcome: ReadOutcome)
    func wrote(_ outcome: WriteOutcome)
    /// Does all that can be done now.
    func serve()
}

extension Connection {
    var isAlive: Bool { io.transport != nil }

    // MARK: Events, of which a class may have its own

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        io.note(events)
        serve()
    }

    func attend(_ core: EventLoop.Core) { serve() }

    func received(_ count: Int) {}

    /// The peer may have said something before it stopped reading, so read first.
    func wrote(_ outcome: WriteOutcome) {
        if case .failed = outcome { io.noteFailedWrite() }
    }

    // MARK: Begin and end

    /// Watches a transport that another handler had: what came with the end of its work has already left the socket.
    func takeOver(_ transport: any ConnectionTransport) {
        io.token = core.add(self, descriptor: transport.descriptor, events: Readiness.edges)
        io.isReadable = true
        core.attend(io.token)
    }

    /// Gives up the transport, and what it has sent.
    func release() {
        core.remove(io.token)
        _ = io.takeTransport()
        _ = io.takeUnread()
    }

    // MARK: Reading

    /// Uses the unread input, then reads, for as long as the connection wants bytes and there are any.
    func readInput() {
        if !io.unread.isEmpty, wantsInput { useUnread() }
        var rounds = 0
        while io.isReadable, wantsInput, let transport = io.transport {
            rounds += 1
            // Other connections want their turn, so continue after them.
            guard rounds <= 16 else { return core.attend(io.token) }
            let outcome = core.readBuffer.fill(transport)
            io.note(outcome, now: core.now)
            switch outcome {
            case .bytes(let count, _):
                received(count)
                if count > 0 { core.readBuffer.withBytes(count) { use($0) } }
            case .wouldBlock, .wouldBlockUntilWritable: break
            case .end, .cutOff, .failed: inputEnded(outcome)
            }
        }
    }

    private func use(_ bytes: Span<UInt8>) {
        guard io.unread.isEmpty else {
            io.keep(bytes)
            return useUnread()
        }
        let used = consume(bytes)
        if isAlive { io.keep(bytes, from: used) }
    }

    private func useUnread() {
        let bytes = io.takeUnread()
        let used = consume(bytes.span)
        guard isAlive else { return }
        if used == 0 { io.putBack(bytes) } else { io.keep(bytes.span, from: used) }
    }

    // MARK: Writing

    /// Sends a piece of a body in its framing; large pieces are written `directly` if that is allowed.
    func send(_ piece: Span<UInt8>, framed framing: BodyFraming, directly: Bool) {
        if framing == .chunked { append { ChunkedWriter.writeSizeLine(piece.count, into: &$0) } }
        if directly, piece.count >= ConnectionCore.directBytes, let transport = io.transport {
            let outcome = io.output.offer(piece, to: transport)
            io.output.took(outcome, piece)
            wrote(outcome)
        } else {
            io.output.append(piece)
        }
        if framing == .chunked { append { ChunkedWriter.writeDataEnd(into: &$0) } }
        if io.output.count > ConnectionCore.highWaterBytes { io.isFull = true }
        core.attend(io.token)
    }

    /// Writes as much of the waiting output as the transport takes.
    func writeOutput() {
        guard let transport = io.transport, !io.output.isEmpty else { return }
        let outcome = io.output.offer(to: transport)
        io.output.took(outcome)
        wrote(outcome)
    }

    func append(_ body: (inout [UInt8]) -> Void) { io.output.append(body) }
}
