internal import CBrotli

/// br, and dcb after its header: one stream (clients deliver only the first of several).
@safe final class BrotliDecoder: DecoderEngine {
    let coding: ContentCoding
    private let state: OpaquePointer
    // The state points into it.
    private let dictionary: Body?
    private var isFinished = false

    init(_ coding: ContentCoding, dictionary: Body?) throws(CodingError) {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        unsafe self.state = state
        self.dictionary = dictionary
        try configure()
    }

    deinit { unsafe BrotliDecoderDestroyInstance(state) }

    // Asked for, since a call that wants more input may keep output that had no room.
    var hasMore: Bool { unsafe BrotliDecoderHasMoreOutput(state) == BROTLI_TRUE }

    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        guard !isFinished else { throw CodingError(coding, .end, "bytes after the end of the stream") }
        var result = BROTLI_DECODER_RESULT_ERROR
        var availableBytes = input.count
        // Safe: the buffers are valid during the call, and the output has at least `room` bytes; the library copies
        // what it keeps.
        unsafe input.withUnsafeBufferPointer { source in
            var next = source.baseAddress
            unsafe output.append(upTo: room) { target in
                var nextOutput = target.baseAddress
                var roomBytes = room
                unsafe result = BrotliDecoderDecompressStream(
                    state, &availableBytes, &next, &roomBytes, &nextOutput, nil)
                return room - roomBytes
            }
        }
        if result == BROTLI_DECODER_RESULT_ERROR {
            // Safe: the library returns static text.
            let text = unsafe String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)))
            throw CodingError(coding, .decode, text)
        }
        isFinished = result == BROTLI_DECODER_RESULT_SUCCESS
        return input.count - availableBytes
    }

    func finish() throws(CodingError) {
        guard isFinished else { throw CodingError(coding, .end, "the stream is cut short") }
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
