internal import Dictionaries
internal import HTTP

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
            guard trailers != nil else {
                stage = .none
                return .wait
            }
            return finish()
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

    private mutating func finish() -> Step {
        end()
        return .act(.finish(trailers: trailers(isCodingChanged: isCodingChanged)))
    }

    mutating func fail(_ failure: Failure) { self.failure = failure }

    private mutating func stepHeld(_ body: consuming HeldBody) -> Step {
        var held = body
        if removal?.isBehind == true, !held.mustStream {
            guard takesTurn() else {
                stage = .held(held)
                return yield()
            }
            let before = held.count
            do throws(CodingRemoval.Failure) {
                try held.append(from: &removal)
            } catch {
                return giveUpDecoding(held, error)
            }
            decodedInTurn += held.count - before
            held.checkSize(isInflated: isInflated(held.count))
            stage = .held(held)
            return .again
        }
        if held.mustStream {
            held.mustStream = false
            held.collect()
            stage = .held(held)
            return .act(.stream)
        }
        if trailers != nil, !held.isWhole {
            guard removal?.isComplete() ?? true else { return giveUpDecoding(held, .malformed) }
            removal = nil
            // The framing has made the lengths equal; a body that ended before is never taken for the whole former one.
            if held.former == nil { held.collect() }
            held.isWhole = true
            held.asksToPrepare = true
        }
        let asks = held.asksToPrepare
        held.asksToPrepare = false
        stage = .held(held)
        return asks ? .act(.prepare) : .wait
    }

    /// Has a held body go out as the upstream coded it, if the client may take that or only memory is short.
    private mutating func giveUpDecoding(
        _ held: consuming HeldBody, _ failure: CodingRemoval.Failure
    ) -> Step {
        guard failure == .noMemory || held.original?.isAccepted == true else {
            fail(.malformed)
            return .again
        }
        stage = .held(held)
        return .act(.streamOriginal(because: failure == .noMemory ? .busy : .codingFailed))
    }

    private mutating func stepSending(_ body: consuming WholeBody, hasRoom: Bool) -> Step {
        var whole = body
        guard whole.offset < whole.bytes.count else { return finish() }
        guard hasRoom else {
            // The coded body waits, and not the body that it was made of.
            if let held = whole.memory?.bytes, whole.bytes.count < held {
                _ = share.resize(&whole.memory, to: whole.bytes.count)
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
        if isCopyBehind {
            guard takesTurn() else { return yield() }
            decodeCopy()
            return .again
        }
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
            emit(piece.span)
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
            stage = .tail(BodyTail(bytes: last))
            return .again
        }
        stage = .tail(BodyTail(bytes: last, slot: copy.slot))
        return .act(.admit(copy: copy.bytes, deltaBytes: deltaBytes))
    }

    private mutating func stepTail(_ end: consuming BodyTail) -> Step {
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
        return finish()
    }

    private func takesTurn() -> Bool { decodedInTurn < Self.turnBytes }

    private mutating func yield() -> Step {
        guard !hasYielded else { return .wait }
        hasYielded = true
        return .act(.yield)
    }
}
