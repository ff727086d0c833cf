internal import Dictionaries

extension CodingLevels {
    /// Returns the size of a body in the best of some codings without a dictionary, or as it is; nil if there is no memory
    /// to encode it.
    ///
    /// Levels that take long are capped, since they would occupy the calling thread for seconds.
    func leastBytes(of body: [UInt8], in codings: [ContentCoding], _ memory: MemoryBudget) -> Int? {
        var best = body.count
        for coding in codings {
            let options = EncoderOptions(bodyBytes: body.count, level: givenForStream(coding))
            let size = memory.lend(Codec.memoryEstimate(for: coding, options: options)) {
                try? Codec.encode(body.span, coding, options: options).count
            }
            guard let size else { return nil }
            best = min(best, size ?? best)
        }
        return best
    }
}
