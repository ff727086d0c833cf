internal import Dictionaries
internal import HTTP
internal import Storage

/// The body of one response on its way from the upstream to the client, as a state machine without I/O.
///
/// Events go in: `received`, `receivedEnd`, `resume`, `deadlinePassed`, `encoderReady`, `admissionSettled`. After each
/// event the exchange takes actions out with `next` and does what they say, until there are none.
struct ResponseBody: ~Copyable {
    /// One thing that the exchange has to do.
    enum Action {
        /// Write these bytes to the client.
        case write(ArraySlice<UInt8>)
        /// Stop holding the body: decide, send the head, and call `stream`.
        case stream
        /// Send the head, and the body as the upstream coded it: it cannot be decoded here.
        case streamOriginal(because: Reason)
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

    /// A reason why a body cannot be completed.
    enum Failure {
        /// The bytes are invalid in the content coding.
        case malformed
        /// The decoder needs more memory than there is, and decoded bytes have been sent.
        case noMemory
        /// The encoder failed, or could not be made; the client has been told its coding.
        case encoder(CodingError?)
    }

    /// The most bytes that are decoded before others have their turn.
    static let turnBytes = 1 << 20

    let share: MemoryShare
    let isEventStream: Bool
    var stage = BodyStage.none
    /// True if the client gets the body without the upstream's coding.
    var isDecoded = false
    /// Undoes the upstream's coding for the client.
    var removal: CodingRemoval?
    var copy: VersionCopy?
    var receivedBytes = 0
    /// The trailers of the upstream's body once it has ended.
    var trailers: Headers?
    var isCodingChanged = false
    /// The length that the client was told, if the last bytes can be told by it.
    var length: UInt64?
    var passedBytes: UInt64 = 0
    /// The last bytes of a body that was copied.
    var tail: [UInt8] = []
    var output: [UInt8] = []
    /// The memory of held bytes that the client has not taken yet.
    var outputMemory: MemoryLoan?
    var asksToFlush = false
    var decodedInTurn = 0
    var hasYielded = false
    var failure: Failure?
    var spent: (coding: ContentCoding, nanoseconds: Int)?

    /// Begins without a body; `share` lends the memory of what is held, decoded and coded.
    init(memory share: MemoryShare, isEventStream: Bool = false) {
        self.share = share
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

    /// True if a body that is prepared can only go out as it is.
    var lacksMemory: Bool {
        switch stage {
        case .preparing(let held): held.lacksMemory
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

    var awaitedSlot: AdmissionSlot? {
        switch stage {
        case .tail(let tail): tail.slot
        default: nil
        }
    }

    /// True if the body passes as it comes, and nothing is left to do before the next event.
    var isPassing: Bool {
        switch stage {
        case .passing: output.isEmpty && trailers == nil && !isCopyBehind
        default: false
        }
    }

    /// True if more of the upstream's body is wanted now.
    var wantsInput: Bool {
        switch stage {
        case .opening: return false
        default: break
        }
        return removal.read { !$0.isBehind } ?? !isCopyBehind
    }

    /// True while the upstream's bytes have gone to the client, and are still to be decoded for the store.
    var isCopyBehind: Bool { copy.read { $0.isBehind } ?? false }

    var hasTrailers: Bool { trailers?.isEmpty == false }

    /// Returns the trailers for a client; digests of the upstream's bytes are wrong for any others.
    func trailers(isCodingChanged: Bool) -> Headers {
        var sent = trailers ?? Headers()
        if isCodingChanged { sent.removeAll(ResponseEdits.ofTheCodedBytes) }
        return sent
    }

    // MARK: Before the head

    /// Collects the body; `original` says that it is to be decoded for the client, `former` is the one of the expected
    /// length that may come again.
    mutating func hold(
        expecting count: Int?, bytesMax: Int, original: HeldBody.Original? = nil,
        repeating former: Body? = nil
    ) -> Bool {
        if let original, !decode(original.coding) { return false }
        stage = .held(
            HeldBody(
                expecting: isDecoded ? nil : count, bytesMax: bytesMax, memory: share, original: original,
                repeating: isDecoded ? nil : former))
        return true
    }

    /// Has the body decoded for the client, whatever its length; returns false if there is no decoder.
    mutating func decode(_ coding: ContentCoding) -> Bool {
        let limits = DecoderLimits(maxBytes: .max, maxRatio: .max)
        removal = CodingRemoval(coding, limits: limits, memory: share)
        guard removal != nil else { return false }
        isDecoded = true
        return true
    }

    /// Holds a whole body that is in memory anyway, such as a stored one.
    mutating func hold(whole bytes: [UInt8]) {
        stage = .held(HeldBody(whole: bytes, memory: share))
    }

    /// Begins to prepare a whole body, and returns it with the body in memory that it repeats; nil if none is held.
    mutating func prepare() -> (bytes: [UInt8], former: Body?)? {
        switch takeStage() {
        case .held(let held):
            let whole = (held.bytes, held.former)
            stage = .preparing(held)
            return whole
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

    mutating func send(_ bytes: [UInt8], memory: consuming MemoryLoan?, after sent: borrowing SentResponse) {
        isCodingChanged = sent.isCodingChanged
        stage = .sending(WholeBody(bytes: bytes, memory: memory))
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
        isCodingChanged = sent.isCodingChanged
        switch consume coding {
        case .none:
            stage = isDecoded ? .decoding : .passing
            guard !bytes.isEmpty else { return }
            addToCopy(bytes.span)
            emit(bytes.span)
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
        emit(original.bytes.span)
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

}
