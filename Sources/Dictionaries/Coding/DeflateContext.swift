internal import CDeflate

/// An owner of a libdeflate compressor, which codes whole bodies as gzip.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class DeflateContext: CompressionContext, @unchecked Sendable {
    /// The pool for live coding.
    static let shared = CompressionContexts<DeflateContext>(countMax: 16, bytesMax: 16 << 20)

    /// The bytes of a compressor at levels 1 to 9: 0.7 MB in libdeflate 1.14, rounded up for other versions.
    static let contextBytes = 1 << 20

    let level: Int32
    private let handle: OpaquePointer

    /// Makes a compressor; nil if memory is exhausted.
    init?(level: Int32) {
        guard let handle = unsafe libdeflate_alloc_compressor(level) else { return nil }
        unsafe self.handle = handle
        self.level = level
    }

    // Safe: owned, and nobody else has a reference.
    deinit { unsafe libdeflate_free_compressor(handle) }

    var memoryBytes: Int { Self.contextBytes }

    // A compressor keeps nothing of a body.
    func reset() -> Bool { true }

    /// Appends the body as gzip; returns false if the library fails.
    func encode(_ body: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) -> Bool {
        let bytesMax = unsafe libdeflate_gzip_compress_bound(handle, body.count)
        let before = output.count
        // Safe: the library writes no more bytes than it is given room for, and returns their count.
        unsafe output.append(upTo: bytesMax) { room in
            unsafe libdeflate_gzip_compress(
                handle, body.baseAddress, body.count, room.baseAddress, room.count)
        }
        return output.count > before
    }
}
