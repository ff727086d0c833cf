internal import Dictionaries
internal import HTTP

// MARK: - The memory of decoders

extension Exchange {
    /// Takes memory for what the decoder holds, or may come to hold where the body is `isFinal`ly decoded; false where
    /// there is none.
    func reserveDecoder(_ answer: Answer, isFinal: Bool) -> Bool {
        guard let decoder = answer.decoder else { return true }
        let bytes = isFinal && answer.isDecoded ? decoder.memoryBytesMax : decoder.memoryBytes
        return resize(&answer.decoderMemory, to: bytes)
    }

    /// Frees the decoder.
    func dropDecoder(_ answer: Answer) {
        answer.decoder = nil
        answer.decoderMemory = nil
    }

    /// There is no memory to decode on.
    func stopDecoding(_ answer: Answer) {
        if !answer.isStarted { return passOriginal(answer) }
        // A stream whose later parts ask for more than its first did.
        proxy.metrics.countBusy()
        dropDecoder(answer)
        upstream?.abort()
        upstream = nil
        abort()
    }

    /// Sends a body on as the upstream coded it, since there is no memory to undo that: the client gets what it would
    /// get from the upstream itself.
    func passOriginal(_ answer: Answer) {
        guard let original = answer.original else { return fail(answer) }
        proxy.metrics.countBusy()
        dropDecoder(answer)
        answer.isDecoded = false
        answer.facts.coding = .known(original.coding)
        answer.place = nil
        answer.original = nil
        answer.collected = []
        answer.undecoded = []
        let decision = Decision(
            coding: original.coding, reason: .busy, upstreamCodingHandling: .passThrough)
        startStreaming(answer, decision, isCoded: false)
        answer.stage = .passing
        forward(original.bytes.span, answer)
    }
}
