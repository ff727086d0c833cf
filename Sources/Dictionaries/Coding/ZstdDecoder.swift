internal import CZstd

/// zstd, and dcz after its header: any number of frames (RFC 8878 section 3).
@safe final class ZstdDecoder: Decoder {
    let coding: ContentCoding
    private let context: OpaquePointer
    // The context points into it.
    private let dictionary: Body?
    private var budget: DecoderBudget
    // From the start: an empty stream is not a whole one.
    private var isFrameOpen = true

    init(_ coding: ContentCoding, dictionary: Body?, budget: DecoderBudget) throws(CodingError) {
        guard let context = unsafe ZSTD_createDCtx() else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        unsafe self.context = context
        self.dictionary = dictionary
        self.budget = budget
        try configure()
    }

    deinit { unsafe ZSTD_freeDCtx(context) }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        budget.read(input.count)
        // Safe: the input is used only within the call; the library copies what it keeps.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            var coded = unsafe ZSTD_inBuffer(src: buffer.baseAddress, size: buffer.count, pos: 0)
            var isRoomUsedUp = false
            while unsafe coded.pos < coded.size || isRoomUsedUp && isFrameOpen {
                isRoomUsedUp = try unsafe decompress(&coded, &output)
            }
        }
    }

    func finish() throws(CodingError) {
        guard !isFrameOpen else { throw CodingError(coding, .end, "the stream is cut short") }
    }

    /// Decodes as much as one step of output holds; true if it was used up.
    private func decompress(
        _ coded: inout ZSTD_inBuffer, _ output: inout [UInt8]
    ) throws(CodingError) -> Bool {
        let room = budget.roomBytes
        let before = output.count
        // Safe: the buffer has at least `room` bytes; input and output are valid during the call.
        try unsafe output.append(upTo: room) { (buffer) throws(CodingError) in
            var decoded = unsafe ZSTD_outBuffer(dst: buffer.baseAddress, size: room, pos: 0)
            let code = unsafe ZSTD_decompressStream(context, &decoded, &coded)
            isFrameOpen = try Zstd.check(code, coding, .decode) != 0
            return unsafe decoded.pos
        }
        let written = output.count - before
        try budget.wrote(written)
        return written == room
    }

    private func configure() throws(CodingError) {
        let dictionaryBytes = dictionary?.count ?? 0
        // RFC 9842 section 5: 8 MB or 1.25 times the dictionary, whichever is more, at most 128 MB.
        // RFC 9659 section 3: 8 MB without one.
        let windowBytes = min(max(8 << 20, dictionaryBytes + dictionaryBytes / 4), 128 << 20)
        try Zstd.check(unsafe ZSTD_DCtx_setMaxWindowSize(context, windowBytes), coding, .setup)
        guard let dictionary else { return }
        // Raw content whatever it begins with, for every frame. Safe: `self.dictionary` outlives the context.
        let code = unsafe ZSTD_DCtx_loadDictionary_advanced(
            context, dictionary.stableAddress, dictionary.count, ZSTD_dlm_byRef, ZSTD_dct_rawContent)
        try Zstd.check(code, coding, .setup)
    }
}
