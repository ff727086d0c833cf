/// What all decoders have in common: the header must match, and nothing follows an error.
final class CheckedDecoder: Decoder {
    private let engine: any Decoder
    private let header: [UInt8]
    private var headerBytesRead = 0
    private var hasFailed = false

    init(_ engine: any Decoder, header: [UInt8]) {
        self.engine = engine
        self.header = header
    }

    var coding: ContentCoding { engine.coding }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        try checkNotFailed()
        hasFailed = true
        let headerBytes = try readHeader(input)
        if headerBytes < input.count {
            try engine.decode(input.extracting(headerBytes...), into: &output)
        }
        hasFailed = false
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

    /// Compares what of the header is in `input`, and says how many bytes that was.
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
