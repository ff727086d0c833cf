internal import CZstd

/// An owned ZSTD_CCtx with a buffer for its output.
///
// @unchecked proof: an encoder or the shelf has it, never two at once; the shelf's lock orders the hand-over.
@safe final class ZstdContext: CompressionContext, @unchecked Sendable {
    /// The live contexts that wait; one for a feed has 1 to 3 MB, those for a window of 8 MiB have more and do not wait.
    static let shared = CompressionContexts<ZstdContext>(countMax: 16, bytesMax: 64 << 20)

    /// Enough for a whole block, so that the library seldom has to stop.
    static let outputBytes = ZSTD_CStreamOutSize()

    let handle: OpaquePointer
    let output: UnsafeMutableRawPointer

    /// A new context; nil when memory is exhausted.
    init?() {
        guard let handle = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.handle = handle
        unsafe output = .allocate(byteCount: Self.outputBytes, alignment: 16)
    }

    deinit {
        // Safe: owned, and nobody else has a reference. Freeing cannot fail for a context that is not static.
        unsafe ZSTD_freeCCtx(handle)
        unsafe output.deallocate()
    }

    var memoryBytes: Int { unsafe ZSTD_sizeof_CCtx(handle) + Self.outputBytes }

    func reset() -> Bool {
        unsafe ZSTD_isError(ZSTD_CCtx_reset(handle, ZSTD_reset_session_and_parameters)) == 0
    }
}
