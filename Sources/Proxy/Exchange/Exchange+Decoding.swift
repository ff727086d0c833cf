internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Undoing the upstream's coding

extension Exchange {
    /// What is decoded before it goes on: a few bytes may stand for gigabytes.
    private static let pieceBytes = 256 * 1024
    /// What is decoded before others have their turn.
    private static let turnBytes = 1 << 20

    /// Takes a piece of a body that the client gets decoded: as much of it now as the client takes, the rest later.
    func takeCoded(_ bytes: Span<UInt8>, _ answer: Answer) {
        record.bodyBytesBefore += bytes.count
        if case .holding = answer.stage { answer.original?.bytes.append(bytes) }
        guard !answer.isDecodingBehind else { return answer.undecoded.append(bytes) }
        let used = decode(bytes, answer)
        // It may have turned out to be for the client to decode.
        guard answer.isDecoded else { return }
        if used < bytes.count { answer.undecoded.append(bytes.extracting(used...)) }
        waitToDecode(answer)
    }

    /// Goes on with what has not been decoded yet; false where there is nothing of the kind.
    func decodeOn() -> Bool {
        guard let answer, answer.isDecodingBehind else { return false }
        let rest = answer.undecoded
        answer.undecoded = []
        let used = decode(rest.span, answer)
        if answer.isDecoded, used < rest.count { answer.undecoded = Array(rest[used...]) }
        if answer.isDecodingBehind {
            waitToDecode(answer)
        } else {
            upstream?.resumeResponse()
            if let trailers = answer.awaitedEnd.take() { bodyEnded(trailers: trailers) }
        }
        return true
    }

    func attend(_ core: EventLoop.Core) {
        _ = decodeOn()
    }

    /// Decodes as long as the client takes what comes of it and the turn lasts; returns how much was used.
    private func decode(_ bytes: Span<UInt8>, _ answer: Answer) -> Int {
        guard let decoder = answer.decoder else { return bytes.count }
        var used = 0
        var written = 0
        while used < bytes.count || decoder.hasMore, written < Self.turnBytes {
            guard takesDecoded(answer) else { break }
            var piece: [UInt8] = []
            do throws(CodingError) {
                used += try decoder.decode(
                    bytes.extracting(used...), upTo: Self.pieceBytes, into: &piece)
            } catch {
                dropDecoder(answer)
                fail(answer)
                return bytes.count
            }
            guard reserveDecoder(answer, isFinal: answer.isStarted) else {
                stopDecoding(answer)
                return bytes.count
            }
            written += piece.count
            pass(decoded: piece, answer)
        }
        if case .bodiless = answer.stage {
            // The answer is over: nobody wants the rest.
            dropDecoder(answer)
            return bytes.count
        }
        return used
    }

    /// Decodes for the copy alone; false where it cannot be read, or finds no place.
    func decodeCopy(_ bytes: Span<UInt8>, _ answer: Answer, _ slot: AdmissionSlot) -> Bool {
        guard let decoder = answer.decoder else { return false }
        var used = 0
        while used < bytes.count || decoder.hasMore {
            do throws(CodingError) {
                used += try decoder.decode(
                    bytes.extracting(used...), upTo: Self.pieceBytes, into: &answer.collected)
            } catch {
                return false
            }
            guard slot.extend(to: answer.collected.count), reserveDecoder(answer, isFinal: false) else {
                return false
            }
        }
        return true
    }

    private func takesDecoded(_ answer: Answer) -> Bool {
        switch answer.stage {
        case .holding: true
        case .decoding, .coding: connection.canWrite
        case .bodiless, .preparing, .sending, .passing, .opening, .ending: false
        }
    }

    private func pass(decoded piece: [UInt8], _ answer: Answer) {
        switch answer.stage {
        case .holding:
            answer.collected += piece
            boundHeld(answer)
        case .decoding:
            copy(piece.span, answer, isDecoded: true)
            forward(piece.span, answer)
        case .coding(let encoder): code(piece, .more, answer, encoder)
        case .bodiless, .preparing, .sending, .passing, .opening, .ending: break
        }
    }

    /// Has the upstream wait while there is more to decode; `drained` goes on where the client is the one to wait for.
    private func waitToDecode(_ answer: Answer) {
        guard answer.isDecodingBehind else { return }
        upstream?.pauseResponse()
        // While an encoder is being made, its coming is what to wait for.
        if case .opening = answer.stage { return }
        if connection.canWrite { core.attend(token) }
    }
}
