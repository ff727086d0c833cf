internal import CZstd

/// An encoder of zstd, and of dcz behind its header.
final class ZstdEncoder: Encoder {
    let coding: ContentCoding
    private let effort: Effort
    // Given back to the pool at the end, and nil from then on.
    private var context: ZstdContext?
    // The context points into it.
    private let dictionary: DictionaryUse?

    init(_ coding: ContentCoding, options: EncoderOptions) throws(CodingError) {
        let pooled = options.effort != .kept ? ZstdContext.shared.take() : nil
        guard let context = pooled ?? ZstdContext() else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        effort = options.effort
        self.context = context
        dictionary = options.dictionary
        try configure(context, options)
    }

    deinit { release() }

    var memoryBytes: Int { context?.memoryBytes ?? 0 }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        guard let context else { throw CodingError(coding, .encode, "the encoder has ended") }
        // Safe: the input is used only within the call; `compress` keeps no pointer to it.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            try unsafe compress(buffer, directive, context, &output)
        }
        if directive == .end { release() }
    }

    private func configure(_ context: ZstdContext, _ options: EncoderOptions) throws(CodingError) {
        let handle = unsafe context.handle
        try ZstdSettings(options: options).forEach { (parameter, value) throws(CodingError) in
            try Zstd.check(unsafe ZSTD_CCtx_setParameter(handle, parameter, value), coding, .setup)
        }
        if let bodyBytes = options.bodyBytes {
            try Zstd.check(
                unsafe ZSTD_CCtx_setPledgedSrcSize(handle, UInt64(clamping: bodyBytes)), coding, .setup)
        }
        switch options.dictionary {
        case nil:
            break
        case .reference(let body):
            // The dictionary is raw content even if it begins like a formatted one (RFC 9842 section 5). The
            // reference holds for one frame, and the body is one. Safe: `dictionary` keeps the body as long as self.
            let code = unsafe ZSTD_CCtx_refPrefix_advanced(
                handle, body.stableAddress, body.count, ZSTD_dct_rawContent)
            try Zstd.check(code, coding, .setup)
        case .prepared(let prepared):
            guard case .zstd(let tables) = prepared.tables else {
                throw CodingError(coding, .setup, "the dictionary was prepared for another coding")
            }
            // Safe: `dictionary` keeps the tables as long as self.
            try Zstd.check(unsafe ZSTD_CCtx_refCDict(handle, tables.handle), coding, .setup)
        }
    }

    private func compress(
        _ buffer: UnsafeBufferPointer<UInt8>, _ directive: EncoderDirective, _ context: ZstdContext,
        _ output: inout [UInt8]
    ) throws(CodingError) {
        var input = unsafe ZSTD_inBuffer(src: buffer.baseAddress, size: buffer.count, pos: 0)
        while true {
            let before = unsafe input.pos
            var target = unsafe ZSTD_outBuffer(dst: context.output, size: ZstdContext.outputBytes, pos: 0)
            // Safe: both buffers are valid for their sizes during the call.
            let code = unsafe ZSTD_compressStream2(context.handle, &target, &input, directive.zstd)
            let remaining = try Zstd.check(code, coding, .encode)
            unsafe output.append(contentsOf: UnsafeRawBufferPointer(start: target.dst, count: target.pos))
            // Zero means that all was written, for `flush` and `end`; `more` is done once all input is read.
            if unsafe directive == .more ? input.pos == input.size : remaining == 0 { return }
            guard unsafe target.pos > 0 || input.pos > before else {
                throw CodingError(coding, .encode, "no progress")
            }
        }
    }

    private func release() {
        // Contexts for kept bodies have many megabytes and are seldom needed.
        if let context, effort != .kept { ZstdContext.shared.give(context) }
        context = nil
    }
}

extension EncoderDirective {
    fileprivate var zstd: ZSTD_EndDirective {
        switch self {
        case .more: ZSTD_e_continue
        case .flush: ZSTD_e_flush
        case .end: ZSTD_e_end
        }
    }
}

/// An owner of a ZSTD_CCtx, with a buffer for its output.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class ZstdContext: CompressionContext, @unchecked Sendable {
    /// The pool for live coding.
    ///
    /// A context for a feed has 1 to 3 MB. Those for a window of 8 MiB have more and are not kept.
    static let shared = ContextPool<ZstdContext>()

    /// The size of the output buffer: a whole block, so that the library seldom has to stop.
    static let outputBytes = ZSTD_CStreamOutSize()

    let handle: OpaquePointer
    let output: UnsafeMutableRawPointer

    /// Makes a context; nil if memory is exhausted.
    init?() {
        guard let handle = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.handle = handle
        unsafe output = .allocate(byteCount: Self.outputBytes, alignment: 16)
    }

    deinit {
        // Safe: owned, without any other reference. Freeing cannot fail for a context that is not static.
        unsafe ZSTD_freeCCtx(handle)
        unsafe output.deallocate()
    }

    var memoryBytes: Int { unsafe ZSTD_sizeof_CCtx(handle) + Self.outputBytes }

    func reset() -> Bool {
        unsafe ZSTD_isError(ZSTD_CCtx_reset(handle, ZSTD_reset_session_and_parameters)) == 0
    }
}

/// A decoder of zstd, and of dcz behind its header: any number of frames (RFC 8878 section 3).
final class ZstdDecoder: DecoderEngine {
    let coding: ContentCoding
    private let context: ZstdDecoderContext
    // The context points into it.
    private let dictionary: Body?
    // True from the start, since an empty stream is not complete.
    private var isFrameOpen = true
    private var isOutputFull = false
    private var readBytes = 0
    private let windowBytesMax: Int

    init(_ coding: ContentCoding, dictionary: Body?) throws(CodingError) {
        guard let context = ZstdDecoderContext.take() else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        self.context = context
        self.dictionary = dictionary
        let dictionaryBytes = dictionary?.count ?? 0
        // RFC 9842 section 5: 8 MB or 1.25 times the dictionary, whichever is more, at most 128 MB. RFC 9659
        // section 3: 8 MB without a dictionary.
        windowBytesMax = min(max(8 << 20, dictionaryBytes + dictionaryBytes / 4), 128 << 20)
        try configure()
    }

    deinit { ZstdDecoderContext.shared.give(context) }

    var hasMore: Bool { isOutputFull && isFrameOpen }

    var memoryBytes: Int { context.memoryBytes }

    /// The bound is known once a frame's header has been read; a later frame may need more.
    var memoryBytesMax: Int {
        readBytes >= Self.headerBytesMax ? memoryBytes : ZSTD_estimateDStreamSize(windowBytesMax)
    }

    /// ZSTD_FRAMEHEADERSIZE_MAX, which zstd.h has for static linking only.
    private static let headerBytesMax = 18

    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        var used = 0
        // Safe: the buffers are valid during the call, and the output has at least `capacity` bytes; the library copies
        // what it keeps.
        try unsafe input.withUnsafeBufferPointer { (source) throws(CodingError) in
            try unsafe output.append(upTo: capacity) { (target) throws(CodingError) in
                var coded = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
                var decoded = unsafe ZSTD_outBuffer(dst: target.baseAddress, size: capacity, pos: 0)
                let code = unsafe ZSTD_decompressStream(context.handle, &decoded, &coded)
                isFrameOpen = try Zstd.check(code, coding, .decode) != 0
                isOutputFull = unsafe decoded.pos == capacity
                unsafe used = coded.pos
                readBytes = min(readBytes + used, Self.headerBytesMax)
                return unsafe decoded.pos
            }
        }
        return used
    }

    var isComplete: Bool { !isFrameOpen }

    private func configure() throws(CodingError) {
        try Zstd.check(unsafe ZSTD_DCtx_setMaxWindowSize(context.handle, windowBytesMax), coding, .setup)
        guard let dictionary else { return }
        // Raw content for every frame, even if it begins like a formatted dictionary. Safe: `self.dictionary`
        // outlives the context.
        let code = unsafe ZSTD_DCtx_loadDictionary_advanced(
            context.handle, dictionary.stableAddress, dictionary.count, ZSTD_dlm_byRef, ZSTD_dct_rawContent)
        try Zstd.check(code, coding, .setup)
    }
}

/// An owner of a ZSTD_DCtx.
// @unchecked proof: one decoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class ZstdDecoderContext: CompressionContext, @unchecked Sendable {
    /// The pool: making a context costs more than decoding a small delta, mostly in page faults.
    ///
    /// A context has 96 KB, and the window of its last frame beside that.
    static let shared = ContextPool<ZstdDecoderContext>(contextBytesMax: 512 << 10)

    let handle: OpaquePointer

    /// Makes a context; nil if memory is exhausted.
    private init?() {
        guard let handle = unsafe ZSTD_createDCtx() else { return nil }
        unsafe self.handle = handle
    }

    // Safe: owned.
    deinit { unsafe ZSTD_freeDCtx(handle) }

    /// Returns a context of the pool or a new one, which its user gives back to the pool; nil if memory is exhausted.
    static func take() -> ZstdDecoderContext? { shared.take() ?? ZstdDecoderContext() }

    var memoryBytes: Int { unsafe ZSTD_sizeof_DCtx(handle) }

    func reset() -> Bool {
        unsafe ZSTD_isError(ZSTD_DCtx_reset(handle, ZSTD_reset_session_and_parameters)) == 0
    }
}

/// The check of libzstd's return values that encoder, decoder and dictionaries share.
enum Zstd {
    /// Returns a return value of the library; throws if it is an error.
    @discardableResult
    static func check(_ code: Int, _ coding: ContentCoding, _ stage: CodingError.Stage) throws(CodingError)
        -> Int
    {
        guard ZSTD_isError(code) == 0 else {
            // Safe: the library returns static text.
            throw CodingError(coding, stage, unsafe String(cString: ZSTD_getErrorName(code)))
        }
        return code
    }
}
