#if canImport(CBrotli)
internal import CBrotli

/// An encoder of br, and of dcb behind its header.
@safe final class BrotliEncoder: Encoder {
    let coding: ContentCoding
    private let state: OpaquePointer
    private let memory: BrotliMemory
    // The state points into it.
    private let dictionary: BrotliDictionary?

    init(_ coding: ContentCoding, options: EncoderOptions) throws(CodingError) {
        dictionary = try Self.tables(for: options.dictionary)
        let memory = BrotliMemory()
        // Safe: `self.memory` outlives the state.
        let state = unsafe BrotliEncoderCreateInstance(
            dictum_brotli_allocator(), dictum_brotli_deallocator(), memory.count)
        guard let state = unsafe state else { throw CodingError(coding, .setup, "memory exhausted") }
        self.coding = coding
        unsafe self.state = state
        self.memory = memory
        try configure(options)
    }

    deinit { unsafe BrotliEncoderDestroyInstance(state) }

    var memoryBytes: Int { memory.bytes }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        // Safe: the input is used only within the call; the library copies what it keeps.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            var next = buffer.baseAddress
            var availableBytes = buffer.count
            // Repeated until a call gives nothing more: one call may take all input and code only a part of it.
            var hasOutput = false
            repeat {
                var noCapacity = 0
                // Safe: no room is given, since the output is taken from the library's own buffer.
                let isFine = unsafe BrotliEncoderCompressStream(
                    state, directive.brotli, &availableBytes, &next, &noCapacity, nil, nil)
                guard isFine == BROTLI_TRUE else { throw CodingError(coding, .encode, "brotli failed") }
                hasOutput = takeOutput(into: &output)
            } while availableBytes > 0 || hasOutput
        }
        if unsafe directive == .end && BrotliEncoderIsFinished(state) != BROTLI_TRUE {
            throw CodingError(coding, .end, "brotli did not finish")
        }
    }

    /// Appends the output that the library has ready; returns false if there was none.
    private func takeOutput(into output: inout [UInt8]) -> Bool {
        var hasOutput = false
        while unsafe BrotliEncoderHasMoreOutput(state) == BROTLI_TRUE {
            var count = 0
            // Safe: the pointer is valid for `count` bytes until the next call.
            let bytes = unsafe BrotliEncoderTakeOutput(state, &count)
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            hasOutput = true
        }
        return hasOutput
    }

    private func configure(_ options: EncoderOptions) throws(CodingError) {
        let window = DictionaryFit.brotliWindow(
            bodyBytes: options.bodyBytes, dictionaryBytes: options.dictionary?.body.count ?? 0)
        try set(BROTLI_PARAM_MODE, BROTLI_MODE_GENERIC.rawValue)
        try set(BROTLI_PARAM_QUALITY, UInt32(options.brotliQuality))
        // RFC 9842 section 4: at most 24, and never the large-window format.
        try set(BROTLI_PARAM_LGWIN, UInt32(window))
        try set(BROTLI_PARAM_LARGE_WINDOW, 0)
        // Zero means unknown; the library counts to 2^30.
        try set(BROTLI_PARAM_SIZE_HINT, UInt32(clamping: min(options.bodyBytes ?? 0, 1 << 30)))
        guard let dictionary else { return }
        // Safe: `self.dictionary` outlives the state.
        guard unsafe BrotliEncoderAttachPreparedDictionary(state, dictionary.handle) == BROTLI_TRUE else {
            throw CodingError(coding, .setup, "brotli refused the dictionary")
        }
    }

    private func set(_ parameter: BrotliEncoderParameter, _ value: UInt32) throws(CodingError) {
        guard unsafe BrotliEncoderSetParameter(state, parameter, value) == BROTLI_TRUE else {
            throw CodingError(coding, .setup, "brotli refused parameter \(parameter.rawValue)")
        }
    }

    private static func tables(for use: DictionaryUse?) throws(CodingError) -> BrotliDictionary? {
        switch use {
        case nil: return nil
        case .reference(let body): return try BrotliDictionary(body)
        case .prepared(let prepared):
            guard case .brotli(let tables) = prepared.tables else {
                throw CodingError(.dcb, .setup, "the dictionary was prepared for another coding")
            }
            return tables
        }
    }

    /// Returns the bytes that an encoder holds at its peak: tables, buffers that follow the window, and the index
    /// of a dictionary that was not prepared.
    ///
    /// Fitted to the allocations of brotli 1.1 for bodies of 11 KB to 4 MB at every window. The tests compare both.
    static func memoryEstimate(options: EncoderOptions) -> Int {
        let window = DictionaryFit.brotliWindow(
            bodyBytes: options.bodyBytes, dictionaryBytes: options.dictionary?.body.count ?? 0)
        let index = BrotliDictionary.memoryEstimate(options.dictionary)
        let quality = options.brotliQuality
        if quality >= 10 { return 23 << 20 + 10 << window + index }
        // Each step of quality doubles the entries of each of 2^15 buckets.
        if quality >= 6 { return 8 << 20 + 4 << (14 + quality) + 2 << window + index }
        if let bodyBytes = options.bodyBytes, bodyBytes <= 1 << 20 { return 3 << 20 + 2 << window + index }
        return (window > 20 ? 13 << 20 : 8 << 20) + 2 << window + index
    }
}

extension EncoderDirective {
    fileprivate var brotli: BrotliEncoderOperation {
        switch self {
        case .more: BROTLI_OPERATION_PROCESS
        case .flush: BROTLI_OPERATION_FLUSH
        case .end: BROTLI_OPERATION_FINISH
        }
    }
}

/// A decoder of br, and of dcb behind its header: one stream, since clients deliver only the first of several.
@safe final class BrotliDecoder: DecoderEngine {
    let coding: ContentCoding
    private let state: OpaquePointer
    // The state points into it.
    private let dictionary: Body?
    private(set) var isComplete = false
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

    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        guard !isComplete else { throw CodingError(coding, .end, "bytes after the end of the stream") }
        if !hasBegun, input.count > 0 {
            hasBegun = true
            windowBits = Self.windowBits(input[0])
        }
        var result = BROTLI_DECODER_RESULT_ERROR
        var availableBytes = input.count
        // Safe: the buffers are valid during the call, and the output has at least `capacity` bytes; the library copies
        // what it keeps.
        unsafe input.withUnsafeBufferPointer { source in
            var next = source.baseAddress
            unsafe output.append(upTo: capacity) { target in
                var nextOutput = target.baseAddress
                var freeBytes = capacity
                unsafe result = BrotliDecoderDecompressStream(
                    state, &availableBytes, &next, &freeBytes, &nextOutput, nil)
                return capacity - freeBytes
            }
        }
        if result == BROTLI_DECODER_RESULT_ERROR {
            // Safe: the library returns static text.
            let text = unsafe String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)))
            throw CodingError(coding, .decode, text)
        }
        isComplete = result == BROTLI_DECODER_RESULT_SUCCESS
        return input.count - availableBytes
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
        else { throw CodingError(coding, .setup, "brotli refused a parameter") }
        guard let dictionary else { return }
        // Safe: `self.dictionary` outlives the state.
        let isAttached = unsafe BrotliDecoderAttachDictionary(
            state, BROTLI_SHARED_DICTIONARY_RAW, dictionary.count, dictionary.stableAddress)
        guard isAttached == BROTLI_TRUE else {
            throw CodingError(coding, .setup, "brotli refused the dictionary")
        }
    }
}

/// The number of bytes that one brotli object has allocated; only the thread that uses the object touches it.
@safe final class BrotliMemory {
    /// The counter that the allocator in the shim changes.
    let count: UnsafeMutablePointer<Int>

    init() {
        // Safe: allocated here, initialised, freed only in `deinit`.
        unsafe count = .allocate(capacity: 1)
        unsafe count.initialize(to: 0)
    }

    deinit { unsafe count.deallocate() }

    var bytes: Int { unsafe count.pointee }
}

/// A dictionary indexed for brotli: an owner of a BrotliEncoderPreparedDictionary.
// @unchecked proof: any number of encoders read a prepared dictionary, and nothing changes it after its creation;
// the count of memory changes only in `init` and `deinit`.
@safe final class BrotliDictionary: @unchecked Sendable {
    let handle: OpaquePointer
    private let memory: BrotliMemory
    // The tables point into it.
    private let body: Body

    /// Indexes a body, in about 8 ms for 1 MiB and 30 ms for 4 MiB.
    init(_ body: Body) throws(CodingError) {
        let memory = BrotliMemory()
        // The quality given here has no influence. Safe: `self.body` and `self.memory` outlive the tables.
        let handle = unsafe BrotliEncoderPrepareDictionary(
            BROTLI_SHARED_DICTIONARY_RAW, body.count, body.stableAddress, 11,
            dictum_brotli_allocator(), dictum_brotli_deallocator(), memory.count)
        guard let handle = unsafe handle else {
            throw CodingError(.dcb, .setup, "cannot index the dictionary")
        }
        unsafe self.handle = handle
        self.memory = memory
        self.body = body
    }

    deinit { unsafe BrotliEncoderDestroyPreparedDictionary(handle) }

    var memoryBytes: Int { memory.bytes }

    /// Returns the bytes of the index that an encoder makes for a dictionary that was not prepared.
    ///
    /// Fitted to brotli 1.1: 4.13 times the dictionary and 256 KiB, from 16 KB to 32 MB; the tests compare.
    static func memoryEstimate(_ use: DictionaryUse?) -> Int {
        guard case .reference(let body)? = use else { return 0 }
        return body.count * 17 / 4 + 512 << 10
    }
}
#endif
