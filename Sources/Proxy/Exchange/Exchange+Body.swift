internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - The answer's body

extension Exchange {
    /// A piece of the body as the upstream sent it.
    func take(_ bytes: Span<UInt8>) {
        guard let answer else { return }
        if answer.isDecoded { return takeCoded(bytes, answer) }
        switch answer.stage {
        case .holding: collectHeld(bytes, answer)
        case .passing: pass(bytes, answer)
        case .coding(let encoder): codeNext(bytes, answer, encoder)
        case .opening: answer.pending.append(bytes)
        case .bodiless, .decoding, .preparing, .sending, .ending: break
        }
    }

    /// The upstream's body has come whole.
    func bodyEnded(trailers: Headers) {
        guard let answer else { return }
        if answer.isDecodingBehind {
            answer.awaitedEnd = trailers
            return
        }
        answer.trailers = trailers
        hideIdentity(in: &answer.trailers)
        switch answer.stage {
        case .bodiless:
            complete()
        case .holding:
            guard finishDecoder(answer) else { return fail(answer) }
            dropDecoder(answer)
            answer.isWhole = true
            prepare(answer)
        case .passing:
            if !finishDecoder(answer) { dropCopy(answer) }
            admitCopy(answer)
        case .decoding:
            guard finishDecoder(answer) else { return fail(answer) }
            admitCopy(answer)
        case .coding(let encoder):
            endCoding(answer, encoder)
        case .opening:
            answer.isWhole = true
        case .preparing, .sending, .ending:
            break
        }
    }

    /// The dictionary has been read, or cannot be: an answer that waited for it goes on.
    func dictionarySettled() {
        guard let answer, case .holding = answer.stage, answer.isWhole else { return }
        prepare(answer)
    }

    /// The time for holding back is over, or the time to flush has come.
    func expired(_ core: EventLoop.Core) {
        guard let answer else {
            // A stored body that could not be read in time.
            return storedAnswer != nil ? askForWhole() : ()
        }
        switch answer.stage {
        case .holding:
            if case .loading(let version) = dictionary { dictionary = .cold(version) }
            if answer.isWhole { prepare(answer) } else { stream(answer) }
        case .coding(let encoder) where answer.needsFlush:
            code([], .flush, answer, encoder)
        default: break
        }
    }

    /// Gives back what the answer holds.
    func releaseAnswer() {
        guard let answer else { return }
        answer.slot = nil
        answer.heldMemory = nil
        answer.encoderMemory = nil
        answer.checkMemory = nil
        dropDecoder(answer)
        answer.stage = .bodiless
    }

    /// Makes a loan from what all share as large as that; false, and nothing changed, where there is not so much.
    func resize(_ loan: inout MemoryLoan?, to bytes: Int) -> Bool {
        if loan != nil { return loan?.resize(to: bytes) ?? false }
        loan = MemoryLoan(bytes, from: context.compressionMemory)
        return loan != nil
    }
}
