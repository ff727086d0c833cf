/// A decoder with the rules of all codings: the header must match, the limits hold, and no call succeeds after an
/// error.
final class CheckedDecoder: Decoder {
    private let engine: any DecoderEngine
    private let header: [UInt8]
    private var budget: DecoderBudget
    private var headerBytesRead = 0
    private var hasFailed = false

    init(_ engine: any DecoderEngine, header: [UInt8], budget: DecoderBudget) {
        self.engine = engine
        self.header = header
        self.budget = budget
    }

    var coding: ContentCoding { engine.coding }
    var hasMore: Bool { engine.hasMore }
    var memoryBytes: Int { engine.memoryBytes }
    var memoryBytesMax: Int { engine.memoryBytesMax }

    func decode(
        _ input: Span<UInt8>, upTo outputBytes: Int, into output: inout [UInt8]
    ) throws(CodingError) -> Int {
        try checkNotFailed()
        hasFailed = true
        var used = try readHeader(input)
        let end = output.count + min(outputBytes, Int.max - output.count)
        while used < input.count || engine.hasMore, output.count < end {
            let waiting = input.count - used
            let room = min(budget.roomBytes(waiting: waiting), end - output.count)
            let before = output.count
            let step = try engine.step(input.extracting(used...), room: room, into: &output)
            used += step
            budget.read(step)
            try budget.wrote(output.count - before, waiting: waiting - step)
        }
        hasFailed = false
        return used
    }

    func finish() throws(CodingError) {
        try checkNotFailed()
        hasFailed = true
        guard headerBytesRead == header.count else {
            throw CodingError(coding, .header, "the body ends within its header")
        }
        try engine.finish()
        hasFailed = false
    }

    private func checkNotFailed() throws(CodingError) {
        guard !hasFailed else { throw CodingError(coding, .decode, "the decoder has failed before") }
    }

    /// Compares the part of the header that `input` has; returns the number of bytes compared.
    private func readHeader(_ input: Span<UInt8>) throws(CodingError) -> Int {
        let count = min(header.count - headerBytesRead, input.count)
        for index in 0..<count where input[index] != header[headerBytesRead + index] {
            let isMagic = headerBytesRead + index < header.count - Digest.byteCount
            throw CodingError(
                coding, .header,
                isMagic ? "another magic number" : "the hash of another dictionary than the one given")
        }
        headerBytesRead += count
        return count
    }
}
