internal import CDeflate

/// An owned compressor of libdeflate, which codes whole bodies as gzip.
///
// @unchecked proof: an encoder or the shelf has it, never two at once; the shelf's lock orders the hand-over.
@safe final class DeflateContext: CompressionContext, @unchecked Sendable {
    /// The live contexts that wait.
    static let shared = CompressionContexts<DeflateContext>(countMax: 16, bytesMax: 16 << 20)

    /// What the levels 1 to 9 take: 0.7 MB in libdeflate 1.14, rounded up for other versions.
    static let contextBytes = 1 << 20

    let level: Int32
    private let handle: OpaquePointer

    /// A new compressor; nil when memory is exhausted.
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

    /// Appends the body as gzip; false if the library fails.
    func encode(_ body: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) -> Bool {
        let bytesMax = unsafe libdeflate_gzip_compress_bound(handle, body.count)
        let before = output.count
        // Safe: the library writes no more than the room it is told of, and returns how much that was.
        unsafe output.append(upTo: bytesMax) { room in
            unsafe libdeflate_gzip_compress(
                handle, body.baseAddress, body.count, room.baseAddress, room.count)
        }
        return output.count > before
    }
}
