internal import CZstd

/// An owner of a ZSTD_CCtx, with a buffer for its output.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class ZstdContext: CompressionContext, @unchecked Sendable {
    /// The pool for live coding.
    ///
    /// A context for a feed has 1 to 3 MB. Those for a window of 8 MiB have more and are not kept.
    static let shared = CompressionContexts<ZstdContext>(countMax: 16, bytesMax: 64 << 20)

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
