internal import CZstd
internal import Primitives

/// Bodies packed as single Zstandard frames (RFC 8878), over another body or alone, for the store.
///
/// A frame has its length and a checksum. It does not name its dictionary, which the store knows.
package enum ZstdFrames {
    package static func pack(
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
    package static func unpack(
        _ frame: [UInt8], count: Int, over dictionary: Body? = nil
    ) throws(CodingError) -> [UInt8] {
        guard let context = ZstdDecoderContext.take() else {
            throw CodingError(.zstd, .setup, "memory exhausted")
        }
        defer { ZstdDecoderContext.shared.give(context) }
        if let dictionary {
            // Safe: the reference holds for one frame, within this call, which keeps the dictionary.
            let code = unsafe ZSTD_DCtx_refPrefix(context.handle, dictionary.stableAddress, dictionary.count)
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
