internal import CZstd

/// Bodies packed as single Zstandard frames (RFC 8878), over another body or alone, for the store.
///
/// A frame has its length and a checksum. It does not name its dictionary, which the store knows.
enum ZstdFrames {
    static func pack(
        _ body: Body, over dictionary: PreparedDictionary? = nil, level: Int? = nil
    ) throws(CodingError) -> [UInt8] {
        let encoder = try ZstdEncoder(
            dictionary == nil ? .zstd : .dcz,
            options: EncoderOptions(
                bodyBytes: body.count, dictionary: dictionary.map { .prepared($0) }, level: level))
        let bytes = body.bytes
        var frame: [UInt8] = []
        try encoder.encode(bytes.span, .end, into: &frame)
        return frame
    }

    /// Returns the bytes of a frame; throws unless there are exactly `count`.
    static func unpack(
        _ frame: [UInt8], count: Int, over dictionary: Body? = nil
    ) throws(CodingError) -> [UInt8] {
        guard let context = ZstdUnpacker.shared.take() ?? ZstdUnpacker() else {
            throw CodingError(.zstd, .setup, "memory exhausted")
        }
        defer { ZstdUnpacker.shared.give(context) }
        if let dictionary {
            // Safe: the reference holds for one frame, within this call, which keeps the dictionary.
            let code = unsafe ZSTD_DCtx_refPrefix(
                context.handle, dictionary.stableAddress, dictionary.count)
            try Zstd.check(code, .dcz, .setup)
        }
        var code = 0
        // Safe: both buffers are valid for their sizes during the call, which writes at most `count` bytes.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, written in
            code = unsafe frame.withUnsafeBytes { source in
                unsafe ZSTD_decompressDCtx(
                    context.handle, target.baseAddress, count, source.baseAddress, source.count)
            }
            written = ZSTD_isError(code) == 0 ? code : 0
        }
        withExtendedLifetime(dictionary) {}
        try Zstd.check(code, .zstd, .decode)
        guard bytes.count == count else { throw CodingError(.zstd, .end, "the frame has another length") }
        return bytes
    }
}

/// An owner of a ZSTD_DCtx for whole frames.
// @unchecked proof: one unpacking or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class ZstdUnpacker: CompressionContext, @unchecked Sendable {
    /// The pool: making a context costs more than unpacking a small body.
    static let shared = ContextPool<ZstdUnpacker>(countMax: 8, bytesMax: 4 << 20)

    let handle: OpaquePointer

    /// Makes a context; nil if memory is exhausted.
    init?() {
        guard let handle = unsafe ZSTD_createDCtx() else { return nil }
        unsafe self.handle = handle
    }

    // Safe: owned.
    deinit { unsafe ZSTD_freeDCtx(handle) }

    var memoryBytes: Int { unsafe ZSTD_sizeof_DCtx(handle) }

    func reset() -> Bool {
        unsafe ZSTD_isError(ZSTD_DCtx_reset(handle, ZSTD_reset_session_and_parameters)) == 0
    }
}
