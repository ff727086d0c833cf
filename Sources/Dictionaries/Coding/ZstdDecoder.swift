internal import CZstd

/// A decoder of zstd, and of dcz behind its header: any number of frames (RFC 8878 section 3).
@safe final class ZstdDecoder: DecoderEngine {
    let coding: ContentCoding
    private let context: OpaquePointer
    // The context points into it.
    private let dictionary: Body?
    // True from the start, since an empty stream is not complete.
    private var isFrameOpen = true
    private var isRoomUsedUp = false
    private var readBytes = 0
    private let windowBytesMax: Int

    init(_ coding: ContentCoding, dictionary: Body?) throws(CodingError) {
        guard let context = unsafe ZSTD_createDCtx() else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        unsafe self.context = context
        self.dictionary = dictionary
        let dictionaryBytes = dictionary?.count ?? 0
        // RFC 9842 section 5: 8 MB or 1.25 times the dictionary, whichever is more, at most 128 MB. RFC 9659
        // section 3: 8 MB without a dictionary.
        windowBytesMax = min(max(8 << 20, dictionaryBytes + dictionaryBytes / 4), 128 << 20)
        try configure()
    }

    deinit { unsafe ZSTD_freeDCtx(context) }

    var hasMore: Bool { isRoomUsedUp && isFrameOpen }

    // Safe: owned.
    var memoryBytes: Int { unsafe ZSTD_sizeof_DCtx(context) }

    /// The bound is known once a frame's header has been read; a later frame may need more.
    var memoryBytesMax: Int {
        readBytes >= Self.headerBytesMax ? memoryBytes : ZSTD_estimateDStreamSize(windowBytesMax)
    }

    /// ZSTD_FRAMEHEADERSIZE_MAX, which zstd.h has for static linking only.
    private static let headerBytesMax = 18

    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        var used = 0
        // Safe: the buffers are valid during the call, and the output has at least `room` bytes; the library copies
        // what it keeps.
        try unsafe input.withUnsafeBufferPointer { (source) throws(CodingError) in
            try unsafe output.append(upTo: room) { (target) throws(CodingError) in
                var coded = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
                var decoded = unsafe ZSTD_outBuffer(dst: target.baseAddress, size: room, pos: 0)
                let code = unsafe ZSTD_decompressStream(context, &decoded, &coded)
                isFrameOpen = try Zstd.check(code, coding, .decode) != 0
                isRoomUsedUp = unsafe decoded.pos == room
                unsafe used = coded.pos
                readBytes = min(readBytes + used, Self.headerBytesMax)
                return unsafe decoded.pos
            }
        }
        return used
    }

    func finish() throws(CodingError) {
        guard !isFrameOpen else { throw CodingError(coding, .end, "the stream is cut short") }
    }

    private func configure() throws(CodingError) {
        try Zstd.check(unsafe ZSTD_DCtx_setMaxWindowSize(context, windowBytesMax), coding, .setup)
        guard let dictionary else { return }
        // Raw content whatever its first bytes are, for every frame. Safe: `self.dictionary` outlives the context.
        let code = unsafe ZSTD_DCtx_loadDictionary_advanced(
            context, dictionary.stableAddress, dictionary.count, ZSTD_dlm_byRef, ZSTD_dct_rawContent)
        try Zstd.check(code, coding, .setup)
    }
}
