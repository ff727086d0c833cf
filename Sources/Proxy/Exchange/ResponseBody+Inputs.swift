internal import Dictionaries
internal import HTTP
internal import Primitives

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
                held.checkSize(isInflated: false)
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
            let isCoded = code([UInt8](copying: bytes), .more, &stream)
            if isCoded { stage = .coding(stream) }
        case .decoding:
            removal?.append(bytes)
            stage = .decoding
        case let other: stage = other
        }
        restartTurn()
        return false
    }

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
            if pending.memory.check == nil { pending.memory.check = opened.checkMemory.take() }
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

    // MARK: Pieces

    /// Decodes the next piece for the client; nil after a failure, which is noted.
    mutating func decodedPiece() -> [UInt8]? {
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
    mutating func code(
        _ piece: [UInt8], _ directive: EncoderDirective, _ stream: inout StreamEncoder
    ) -> Bool {
        addToCopy(piece.span)
        let directive = isEventStream && directive == .more ? .flush : directive
        do throws(CodingError) {
            let (coded, nanoseconds) = try stream.code(piece, directive)
            spent = (stream.encoder.coding, (spent?.nanoseconds ?? 0) + nanoseconds)
            if directive == .more { askToFlush(&stream) }
            if directive == .end { tail = coded } else { output += coded }
            return true
        } catch {
            fail(.encoder(error))
            return false
        }
    }

    mutating func askToFlush(_ stream: inout StreamEncoder) {
        guard !stream.needsFlush else { return }
        stream.needsFlush = true
        asksToFlush = true
    }

    mutating func addToCopy(_ piece: Span<UInt8>) {
        guard copy != nil else { return }
        let fits = copy?.append(piece) == true
        keepCopy(if: fits)
    }

    mutating func decodeCopy() {
        let before = copy?.bytes.count ?? 0
        let fits = copy?.decodePiece() == true
        decodedInTurn += (copy?.bytes.count ?? 0) - before
        keepCopy(if: fits)
    }

    private mutating func keepCopy(if fits: Bool) {
        if !fits || isInflated(copy?.bytes.count ?? 0) { copy = nil }
    }

    /// Counts a piece that goes out; returns false if it is the last one, and waits for the admission.
    mutating func passes(_ piece: Span<UInt8>) -> Bool {
        passedBytes += UInt64(piece.count)
        guard copy != nil, passedBytes == length else { return true }
        tail.append(piece)
        return false
    }

    mutating func emit(_ piece: Span<UInt8>) {
        if passes(piece) { output.append(piece) }
    }

    mutating func takeStage() -> BodyStage { exchange(&stage, with: .none) }
}
