internal import CZlib

/// An owner of a z_stream for gzip at one level, with a buffer for its output.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class GzipContext: CompressionContext, @unchecked Sendable {
    /// The pool for live coding.
    static let shared = CompressionContexts<GzipContext>(countMax: 16, bytesMax: 8 << 20)

    static let outputBytes = 32 << 10

    /// The bytes of a context.
    ///
    /// zconf.h: (1 << (windowBits + 2)) + (1 << (memLevel + 9)) for windowBits 15 and memLevel 8, "plus a few
    /// kilobytes for small objects".
    static let memoryBytes = 256 << 10 + 8 << 10 + outputBytes

    // A z_stream has its own place on the heap: zlib checks that it has not moved.
    let stream: UnsafeMutablePointer<z_stream>
    let output: UnsafeMutablePointer<UInt8>
    let level: Int32

    init(level: Int32) throws(CodingError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe dictum_deflate_init_gzip(stream, level)
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CodingError(.gzip, .setup, "deflateInit2 returned \(code)")
        }
        unsafe self.stream = stream
        self.level = level
        unsafe output = .allocate(capacity: Self.outputBytes)
    }

    deinit {
        // Safe: owned. An error is ignored: it says that the stream was not finished.
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    var memoryBytes: Int { Self.memoryBytes }

    func reset() -> Bool { unsafe deflateReset(stream) == Z_OK }
}
