internal import CBrotli

/// br, and dcb after its header: one stream (clients deliver only the first of several).
@safe final class BrotliDecoder: Decoder {
    let coding: ContentCoding
    private let state: OpaquePointer
    // The state points into it.
    private let dictionary: Body?
    private var budget: DecoderBudget
    private var isFinished = false

    init(_ coding: ContentCoding, dictionary: Body?, budget: DecoderBudget) throws(CodingError) {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        unsafe self.state = state
        self.dictionary = dictionary
        self.budget = budget
        try configure()
    }

    deinit { unsafe BrotliDecoderDestroyInstance(state) }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        budget.read(input.count)
        // Safe: the input is used only within the call; the library copies what it keeps.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            var next = buffer.baseAddress
            var availableBytes = buffer.count
            while true {
                guard !isFinished else {
                    if availableBytes == 0 { return }
                    throw CodingError(coding, .end, "bytes after the end of the stream")
                }
                let wantsRoom = try unsafe decompress(&next, &availableBytes, &output)
                if !wantsRoom && !isFinished { return }
            }
        }
    }

    func finish() throws(CodingError) {
        guard isFinished else { throw CodingError(coding, .end, "the stream is cut short") }
    }

    /// Decodes as much as one step of output holds; true if there is more to write.
    private func decompress(
        _ next: inout UnsafePointer<UInt8>?, _ availableBytes: inout Int, _ output: inout [UInt8]
    ) throws(CodingError) -> Bool {
        let room = budget.roomBytes
        let before = output.count
        var result = BROTLI_DECODER_RESULT_ERROR
        // Safe: the buffer has at least `room` bytes; input and output are valid during the call.
        unsafe output.append(upTo: room) { buffer in
            var nextOutput = buffer.baseAddress
            var roomBytes = room
            unsafe result = BrotliDecoderDecompressStream(
                state, &availableBytes, &next, &roomBytes, &nextOutput, nil)
            return room - roomBytes
        }
        if result == BROTLI_DECODER_RESULT_ERROR {
            // Safe: the library returns static text.
            let text = unsafe String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)))
            throw CodingError(coding, .decode, text)
        }
        try budget.wrote(output.count - before)
        isFinished = result == BROTLI_DECODER_RESULT_SUCCESS
        // Asked for, since a call that wants more input may keep output that had no room.
        return unsafe BrotliDecoderHasMoreOutput(state) == BROTLI_TRUE
    }

    private func configure() throws(CodingError) {
        // RFC 9842 section 4: never the large-window format.
        guard unsafe BrotliDecoderSetParameter(state, BROTLI_DECODER_PARAM_LARGE_WINDOW, 0) == BROTLI_TRUE
        else {
            throw CodingError(coding, .setup, "brotli refused a parameter")
        }
        guard let dictionary else { return }
        // Safe: `self.dictionary` outlives the state.
        let isAttached = unsafe BrotliDecoderAttachDictionary(
            state, BROTLI_SHARED_DICTIONARY_RAW, dictionary.count, dictionary.stableAddress)
        guard isAttached == BROTLI_TRUE else {
            throw CodingError(coding, .setup, "brotli refused the dictionary")
        }
    }
}
