internal import CBrotli

/// A decoder of br, and of dcb behind its header: one stream, since clients deliver only the first of several.
@safe final class BrotliDecoder: DecoderEngine {
    let coding: ContentCoding
    private let state: OpaquePointer
    // The state points into it.
    private let dictionary: Body?
    private var isFinished = false
    private let memory: BrotliMemory
    /// The window that the first byte of the stream asks for; the largest (RFC 7932 section 9.1) until that byte is
    /// read.
    private var windowBits = 24
    private var hasBegun = false

    init(_ coding: ContentCoding, dictionary: Body?) throws(CodingError) {
        let memory = BrotliMemory()
        // Safe: `self.memory` outlives the state.
        let state = unsafe BrotliDecoderCreateInstance(
            dictum_brotli_allocator(), dictum_brotli_deallocator(), memory.count)
        guard let state = unsafe state else { throw CodingError(coding, .setup, "memory exhausted") }
        self.coding = coding
        self.memory = memory
        unsafe self.state = state
        self.dictionary = dictionary
        try configure()
    }

    deinit { unsafe BrotliDecoderDestroyInstance(state) }

    // The library is asked, since a call that wants more input may keep output that had no room.
    var hasMore: Bool { unsafe BrotliDecoderHasMoreOutput(state) == BROTLI_TRUE }

    var memoryBytes: Int { memory.bytes }

    /// The window and the tables, which are rarely larger.
    var memoryBytesMax: Int { max(memoryBytes, 1 << windowBits + 512 << 10) }

    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        guard !isFinished else { throw CodingError(coding, .end, "bytes after the end of the stream") }
        if !hasBegun, input.count > 0 {
            hasBegun = true
            windowBits = Self.windowBits(input[0])
        }
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

    /// Returns WBITS (RFC 7932 section 9.1), or 24 if the byte is invalid: the library then refuses the stream.
    static func windowBits(_ byte: UInt8) -> Int {
        if byte & 1 == 0 { return 16 }
        let (low, high) = (Int(byte >> 1 & 7), Int(byte >> 4 & 7))
        if low > 0 { return 17 + low }
        return switch high {
        case 0: 17
        case 1: 24
        default: 8 + high
        }
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
