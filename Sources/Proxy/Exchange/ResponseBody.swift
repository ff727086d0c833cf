internal import Dictionaries
internal import HTTP
internal import Primitives

/// The body of one response on its way from the upstream to the client, as a state machine without I/O.
///
/// Events go in: `received`, `receivedEnd`, `drained`, `deadlinePassed`, `encoderReady`, `admissionSettled`. After each
/// event the exchange takes actions out with `next` and does what they say, until there are none.
struct ResponseBody: ~Copyable {
    /// One thing that the exchange has to do.
    enum Action {
        /// Write these bytes to the client.
        case write(ArraySlice<UInt8>)
        /// Stop holding the body: decide, send the head, and call `stream`.
        case stream
        /// Send the head, and the body as the upstream coded it: there is no memory to decode it.
        case streamOriginal
        /// The held body is whole: decide, have it coded, and call `send`.
        case prepare
        /// Offer the copy to the store, and call `admissionSettled`.
        case admit(copy: [UInt8], deltaBytes: Int?)
        /// Flush the encoder soon: call `deadlinePassed` then.
        case flushSoon
        /// Let others have their turn, and call `resume`.
        case yield
        /// Count the time that an encoder took.
        case countCoding(ContentCoding, nanoseconds: Int)
        /// The body is complete: end the response.
        case finish(trailers: Headers)
        /// The body cannot be completed.
        case fail(Failure)
    }

    /// Why a body cannot be completed.
    enum Failure {
        /// It is not in its content coding.
        case malformed
        /// Its decoder needs more memory than there is, and decoded bytes have gone out.
        case noMemory
        /// The encoder failed, or could not be made; the client has been told its coding.
        case encoder(CodingError?)
    }

    private enum Stage: ~Copyable {
        /// The response has no body, or none has come yet.
        case none
        case held(HeldBody)
        /// The body is whole; it is compared, hashed and coded.
        case preparing(HeldBody)
        case sending(WholeBody)
        /// The upstream's bytes go out untouched.
        case passing
        /// The upstream's coding is undone, and no other put in its place.
        case decoding
        /// An encoder is made by another thread.
        case opening(PendingEncoder)
        case coding(StreamEncoder)
        /// The last bytes wait until the store has taken the copy.
        case tail(Tail)
        case ended
    }

    /// A whole body in its final coding, which goes out as fast as the client takes it.
    private struct WholeBody: ~Copyable {
        static let sliceBytes = 64 * 1024

        let bytes: [UInt8]
        var offset = 0
        var memory: MemoryLoan?
    }

    /// The input that waits for an encoder.
    private struct PendingEncoder: ~Copyable {
        var memory: EncoderMemory
        var input: [UInt8] = []
    }

    /// An encoder that codes the body piece by piece.
    private struct StreamEncoder: ~Copyable {
        let encoder: any Encoder
        let memory: EncoderMemory
        /// True if the encoder holds bytes back that the client should get soon.
        var needsFlush = false
        /// The bytes of the delta so far; nil without a dictionary.
        var deltaBytes: Int?
    }

    private struct Tail: ~Copyable {
        var bytes: [UInt8]
        /// The place of the copy in the store's memory; nil once its admission is settled.
        var slot: AdmissionSlot?
    }

    /// The most bytes that are decoded before others have their turn.
    private static let turnBytes = 1 << 20

    private let budget: MemoryBudget
    private let isEventStream: Bool
    private var stage = Stage.none
    /// True if the client gets the body without the upstream's coding.
    private(set) var isDecoded = false
    /// Undoes the upstream's coding for the client.
    private var removal: CodingRemoval?
    private var copy: VersionCopy?
    /// The bytes that the upstream has sent.
    private(set) var receivedBytes = 0
    /// The trailers of the upstream's body once it has ended.
    private var trailers: Headers?
    /// The length that the client was told, if the last bytes can be told by it.
    private var length: UInt64?
    private var passedBytes: UInt64 = 0
    /// The last bytes of a body that was copied.
    private var tail: [UInt8] = []
    /// Bytes for the client.
    private var output: [UInt8] = []
    /// The memory of held bytes that the client has not taken yet.
    private var outputMemory: MemoryLoan?
    private var asksToFlush = false
    private var decodedInTurn = 0
    private var hasYielded = false
    private var spent: (coding: ContentCoding, nanoseconds: Int)?

    /// Begins without a body; `budget` lends the memory of what is held, decoded and coded.
    init(memory budget: MemoryBudget, isEventStream: Bool = false) {
        self.budget = budget
        self.isEventStream = isEventStream
    }

    // MARK: State

    /// True while the body is collected, and nothing is decided.
    var isHeld: Bool {
        switch stage {
        case .held: true
        default: false
        }
    }

    var isPreparing: Bool {
        switch stage {
        case .preparing: true
        default: false
        }
    }

    /// True if the whole body has been received and is held.
    var isHeldWhole: Bool {
        switch stage {
        case .held(let held): held.isWhole
        default: false
        }
    }

    /// The place of the copy whose admission is awaited.
    var awaitedSlot: AdmissionSlot? {
        switch stage {
        case .tail(let tail): tail.slot
        default: nil
        }
    }

    /// True if more of the upstream's body is wanted now.
    var wantsInput: Bool {
        switch stage {
        case .opening: return false
        default: break
        }
        switch removal {
        case .some(let removal): return !removal.isBehind
        case .none: return true
        }
    }

    // MARK: Before the head

    /// Collects the body; `original` says that it is to be decoded for the client.
    mutating func hold(expecting count: Int?, bytesMax: Int, original: HeldBody.Original? = nil) -> Bool {
        if let original, !decode(original.coding) { return false }
        stage = .held(
            HeldBody(
                expecting: isDecoded ? nil : count, bytesMax: bytesMax, memory: budget, original: original))
        return true
    }

    /// Has the body decoded for the client, whatever its length; returns false if there is no decoder.
    mutating func decode(_ coding: ContentCoding) -> Bool {
        let limits = DecoderLimits(maxBytes: .max, maxRatio: .max)
        removal = CodingRemoval(coding, limits: limits, memory: budget)
        guard removal != nil else { return false }
        isDecoded = true
        return true
    }

    /// Holds a whole body that is in memory anyway, such as a stored one.
    mutating func hold(whole bytes: [UInt8]) {
        stage = .held(HeldBody(whole: bytes, memory: budget))
    }

    /// Begins to prepare a held body, and returns it; nil if none is held.
    mutating func prepare() -> [UInt8]? {
        switch takeStage() {
        case .held(let held):
            let bytes = held.bytes
            stage = .preparing(held)
            return bytes
        case let other:
            stage = other
            return nil
        }
    }

    /// Takes out the held body, whose head is about to be sent.
    mutating func takeHeld() -> HeldBody? {
        switch takeStage() {
        case .held(let held): return held
        case .preparing(let held): return held
        case let other:
            stage = other
            return nil
        }
    }

    /// Asks again to prepare a body that is whole and waited for a dictionary.
    mutating func dictionarySettled() {
        switch takeStage() {
        case .held(var held):
            held.asksToPrepare = held.isWhole
            stage = .held(held)
        case let other: stage = other
        }
    }

    /// Returns true if a body is not worth its place: decoding made it very much larger.
    func isInflated(_ count: Int) -> Bool {
        isDecoded && HeldBody.isInflated(bytes: count, from: receivedBytes)
    }

    /// Borrows the memory for decoding the rest; returns false if the body cannot be decoded to its end.
    mutating func reserveDecoder() -> Bool {
        guard removal != nil else { return true }
        return removal?.reserve(all: true) == true
    }

    // MARK: After the head

    /// Sends a whole body.
    mutating func send(_ bytes: [UInt8], memory: consuming MemoryLoan?, after sent: borrowing SentResponse) {
        removal = nil
        stage = .sending(WholeBody(bytes: bytes, memory: memory))
    }

    /// Sends nothing: the head was all.
    mutating func sendNothing(after sent: borrowing SentResponse) { end() }

    /// Where the rest of a streamed body goes.
    enum StreamCoding: ~Copyable {
        /// To the client, as it is or decoded.
        case none
        case ready(any Encoder, EncoderMemory)
        /// An encoder that another thread makes, which also codes what was held.
        case underWay(EncoderMemory)

        var isCoded: Bool {
            switch self {
            case .none: false
            default: true
            }
        }
    }

    /// Lets the body go out piece by piece: first the held bytes, if there are any.
    mutating func stream(
        _ held: consuming HeldBody?, _ coding: consuming StreamCoding, copy: consuming VersionCopy?,
        after sent: borrowing SentResponse
    ) {
        let bytes = held?.bytes ?? []
        outputMemory = held?.takeMemory(upTo: bytes.count)
        self.copy = copy
        length = sent.length
        switch consume coding {
        case .none:
            stage = isDecoded ? .decoding : .passing
            addToCopy(bytes.span)
            forward(bytes.span)
        case .ready(let encoder, let memory):
            var stream = StreamEncoder(encoder: encoder, memory: memory)
            let isCoded = bytes.isEmpty || code(bytes, .more, &stream)
            if isCoded { stage = .coding(stream) }
        case .underWay(let memory):
            stage = .opening(PendingEncoder(memory: memory))
            addToCopy(bytes.span)
        }
    }

    /// Lets the body go out as the upstream coded it.
    mutating func streamOriginal(
        _ original: HeldBody.Original, memory: consuming MemoryLoan?, after sent: borrowing SentResponse
    ) {
        dropDecoder()
        length = sent.length
        outputMemory = memory
        stage = .passing
        forward(original.bytes.span)
    }

    /// Stops decoding: the client gets the body as the upstream coded it.
    mutating func dropDecoder() {
        removal = nil
        isDecoded = false
    }

    /// Ends the body wherever it is, and gives back what it holds.
    mutating func end() {
        stage = .ended
        removal = nil
        copy = nil
        output = []
        outputMemory = nil
        failure = nil
    }

    private var failure: Failure?
}

// MARK: - Events

extension ResponseBody {
    /// Takes a piece of the upstream's body; returns true if that very piece is to be written to the client.
    mutating func received(_ bytes: Span<UInt8>) -> Bool {
        receivedBytes += bytes.count
        switch takeStage() {
        case .passing:
            stage = .passing
            addToCopy(bytes)
            return passes(bytes)
        case .held(var held):
            if isDecoded {
                held.original?.bytes.append(bytes)
                removal?.append(bytes)
            } else {
                held.append(bytes)
                held.limit(isInflated: false)
            }
            stage = .held(held)
        case .opening(var pending):
            if isDecoded { removal?.append(bytes) } else { pending.input.append(bytes) }
            stage = .opening(pending)
        case .coding(var stream):
            guard !isDecoded else {
                removal?.append(bytes)
                stage = .coding(stream)
                break
            }
            var piece: [UInt8] = []
            piece.append(bytes)
            let isCoded = code(piece, .more, &stream)
            if isCoded { stage = .coding(stream) }
        case .decoding:
            removal?.append(bytes)
            stage = .decoding
        case let other: stage = other
        }
        restartTurn()
        return false
    }

    /// Notes that the upstream's body is complete.
    mutating func receivedEnd(trailers: Headers) {
        self.trailers = trailers
        restartTurn()
    }

    /// Goes on because the client has taken what waited, or others have had their turn.
    mutating func resume() { restartTurn() }

    /// Notes that a body has been held for long enough, or an encoder has kept bytes for long enough.
    mutating func deadlinePassed() {
        switch takeStage() {
        case .held(var held):
            if held.isWhole { held.asksToPrepare = true } else { held.mustStream = true }
            stage = .held(held)
        case .coding(var stream):
            let isCoded = !stream.needsFlush || code([], .flush, &stream)
            if isCoded { stage = .coding(stream) }
        case let other: stage = other
        }
    }

    /// Takes an encoder that another thread has made, with what it has coded of the held bytes.
    mutating func encoderReady(_ opened: OpenedEncoder) {
        switch takeStage() {
        case .opening(var pending):
            if pending.memory.check == nil { pending.memory.check = opened.takeCheckMemory() }
            guard let encoder = opened.encoder else { return fail(.encoder(opened.error)) }
            spent = (encoder.coding, opened.nanoseconds)
            output += opened.output
            let input = pending.input
            var stream = StreamEncoder(encoder: encoder, memory: pending.memory)
            askToFlush(&stream)
            let isCoded = input.isEmpty || code(input, .more, &stream)
            if isCoded { stage = .coding(stream) }
        case let other: stage = other
        }
        restartTurn()
    }

    /// Notes that the store has taken the copy or refused it: the last bytes may go.
    mutating func admissionSettled() {
        switch takeStage() {
        case .tail(var tail):
            tail.slot = nil
            stage = .tail(tail)
        case let other: stage = other
        }
    }

    private mutating func restartTurn() {
        decodedInTurn = 0
        hasYielded = false
    }
}

// MARK: - Actions

extension ResponseBody {
    /// Returns what to do next; nil if there is nothing before the next event.
    ///
    /// `hasRoom` says that the client takes more.
    mutating func next(hasRoom: Bool) -> Action? {
        while true {
            if let spent = spent.take() { return .countCoding(spent.coding, nanoseconds: spent.nanoseconds) }
            if let failure = failure.take() {
                end()
                return .fail(failure)
            }
            if !output.isEmpty {
                defer { output = [] }
                return .write(output[...])
            }
            if asksToFlush {
                asksToFlush = false
                return .flushSoon
            }
            switch step(hasRoom: hasRoom) {
            case .act(let action): return action
            case .wait: return nil
            case .again: continue
            }
        }
    }

    private enum Step {
        case act(Action)
        /// Nothing to do before the next event.
        case wait
        /// Some output may be ready, or another stage begun.
        case again
    }

    private mutating func step(hasRoom: Bool) -> Step {
        switch takeStage() {
        case .none:
            guard let trailers else {
                stage = .none
                return .wait
            }
            return finish(trailers)
        case .held(let held): return stepHeld(held)
        case .sending(let whole): return stepSending(whole, hasRoom: hasRoom)
        case .passing:
            stage = .passing
            return stepPassing(hasRoom: hasRoom)
        case .decoding:
            stage = .decoding
            return stepDecoding(hasRoom: hasRoom)
        case .coding(let stream): return stepCoding(stream, hasRoom: hasRoom)
        case .tail(let tail): return stepTail(tail)
        case let other:
            stage = other
            return .wait
        }
    }

    private mutating func finish(_ trailers: Headers) -> Step {
        end()
        return .act(.finish(trailers: trailers))
    }

    private mutating func fail(_ failure: Failure) { self.failure = failure }

    private mutating func stepHeld(_ body: consuming HeldBody) -> Step {
        var held = body
        if removal?.isBehind == true, !held.mustStream {
            guard takesTurn() else {
                stage = .held(held)
                return yield()
            }
            let before = held.bytes.count
            do throws(CodingRemoval.Failure) {
                try held.append(from: &removal)
            } catch {
                guard error == .noMemory else {
                    fail(.malformed)
                    return .again
                }
                stage = .held(held)
                return .act(.streamOriginal)
            }
            decodedInTurn += held.bytes.count - before
            held.limit(isInflated: isInflated(held.bytes.count))
            stage = .held(held)
            return .again
        }
        if held.mustStream {
            held.mustStream = false
            stage = .held(held)
            return .act(.stream)
        }
        if trailers != nil, !held.isWhole {
            guard removal?.isComplete() ?? true else {
                fail(.malformed)
                return .again
            }
            removal = nil
            held.isWhole = true
            held.asksToPrepare = true
        }
        let asks = held.asksToPrepare
        held.asksToPrepare = false
        stage = .held(held)
        return asks ? .act(.prepare) : .wait
    }

    private mutating func stepSending(_ body: consuming WholeBody, hasRoom: Bool) -> Step {
        var whole = body
        guard whole.offset < whole.bytes.count else { return finish(Headers()) }
        guard hasRoom else {
            // The coded body waits, and not the body that it was made of.
            if let held = whole.memory?.bytes, whole.bytes.count < held {
                _ = budget.resize(&whole.memory, to: whole.bytes.count)
            }
            stage = .sending(whole)
            return .wait
        }
        let slice = whole.bytes[whole.offset..<min(whole.offset + WholeBody.sliceBytes, whole.bytes.count)]
        whole.offset = slice.endIndex
        stage = .sending(whole)
        return .act(.write(slice))
    }

    private mutating func stepPassing(hasRoom: Bool) -> Step {
        if hasRoom { outputMemory = nil }
        guard trailers != nil else { return .wait }
        if copy?.isComplete() == false { copy = nil }
        return endStream()
    }

    private mutating func stepDecoding(hasRoom: Bool) -> Step {
        if hasRoom { outputMemory = nil }
        if removal?.isBehind == true {
            guard hasRoom else { return .wait }
            guard takesTurn() else { return yield() }
            guard let piece = decodedPiece() else { return .again }
            addToCopy(piece.span)
            forward(piece.span)
            return .again
        }
        guard trailers != nil else { return .wait }
        guard removal?.isComplete() ?? true else {
            fail(.malformed)
            return .again
        }
        return endStream()
    }

    private mutating func stepCoding(_ body: consuming StreamEncoder, hasRoom: Bool) -> Step {
        var stream = body
        if hasRoom { outputMemory = nil }
        if removal?.isBehind == true {
            guard hasRoom, takesTurn() else {
                stage = .coding(stream)
                return hasRoom ? yield() : .wait
            }
            guard let piece = decodedPiece() else { return .again }
            let isCoded = code(piece, .more, &stream)
            if isCoded { stage = .coding(stream) }
            return .again
        }
        guard trailers != nil else {
            stage = .coding(stream)
            return .wait
        }
        guard removal?.isComplete() ?? true else {
            fail(.malformed)
            return .again
        }
        guard code([], .end, &stream) else { return .again }
        return endStream(deltaBytes: stream.deltaBytes)
    }

    /// The body is complete but for its tail, which waits for the admission of the copy.
    private mutating func endStream(deltaBytes: Int? = nil) -> Step {
        removal = nil
        let last = tail
        tail = []
        guard let copy = copy.take(), !copy.bytes.isEmpty else {
            stage = .tail(Tail(bytes: last))
            return .again
        }
        stage = .tail(Tail(bytes: last, slot: copy.slot))
        return .act(.admit(copy: copy.bytes, deltaBytes: deltaBytes))
    }

    private mutating func stepTail(_ end: consuming Tail) -> Step {
        var last = end
        guard last.slot == nil else {
            stage = .tail(last)
            return .wait
        }
        guard last.bytes.isEmpty else {
            output = last.bytes
            last.bytes = []
            stage = .tail(last)
            return .again
        }
        return finish(trailers ?? Headers())
    }

    private func takesTurn() -> Bool { decodedInTurn < Self.turnBytes }

    private mutating func yield() -> Step {
        guard !hasYielded else { return .wait }
        hasYielded = true
        return .act(.yield)
    }

    // MARK: Pieces

    /// Decodes the next piece for the client; nil after a failure, which is noted.
    private mutating func decodedPiece() -> [UInt8]? {
        var piece: [UInt8] = []
        do throws(CodingRemoval.Failure) {
            try removal?.decodePiece(into: &piece, takesAll: true)
        } catch {
            fail(error == .noMemory ? .noMemory : .malformed)
            stage = .none
            return nil
        }
        decodedInTurn += piece.count
        return piece
    }

    /// Codes a piece; returns false after a failure, which is noted.
    private mutating func code(
        _ piece: [UInt8], _ directive: EncoderDirective, _ stream: inout StreamEncoder
    ) -> Bool {
        addToCopy(piece.span)
        let directive = isEventStream && directive == .more ? .flush : directive
        let begin = SystemClock.monotonicNanoseconds
        var coded: [UInt8] = []
        do throws(CodingError) {
            try stream.encoder.encode(piece.span, directive, into: &coded)
        } catch {
            fail(.encoder(error))
            return false
        }
        let nanoseconds = Int(SystemClock.monotonicNanoseconds - begin)
        spent = (stream.encoder.coding, (spent?.nanoseconds ?? 0) + nanoseconds)
        switch directive {
        case .more: askToFlush(&stream)
        case .flush: stream.needsFlush = false
        case .end: break
        }
        if stream.encoder.coding.usesDictionary {
            stream.deltaBytes = (stream.deltaBytes ?? 0) + coded.count
        }
        if directive == .end { tail = coded } else { output += coded }
        return true
    }

    private mutating func askToFlush(_ stream: inout StreamEncoder) {
        guard !stream.needsFlush else { return }
        stream.needsFlush = true
        asksToFlush = true
    }

    /// Adds a piece to the copy, if there is one and the piece fits.
    private mutating func addToCopy(_ piece: Span<UInt8>) {
        guard copy != nil else { return }
        let fits = copy?.append(piece) == true
        if !fits || isInflated(copy?.bytes.count ?? 0) { copy = nil }
    }

    /// Counts a piece that goes out; returns false if it is the last one, and waits for the admission.
    private mutating func passes(_ piece: Span<UInt8>) -> Bool {
        passedBytes += UInt64(piece.count)
        guard copy != nil, passedBytes == length else { return true }
        tail.append(piece)
        return false
    }

    private mutating func forward(_ piece: Span<UInt8>) {
        if passes(piece) { output.append(piece) }
    }

    private mutating func takeStage() -> Stage {
        var taken = Stage.none
        swap(&taken, &stage)
        return taken
    }
}

/// The memory of an encoder, and of the check of what it gives out.
struct EncoderMemory: ~Copyable {
    var encoder: MemoryLoan?
    var check: MemoryLoan?
}
