#if canImport(CZlib)
internal import CDeflate
internal import CZlib

/// An encoder of gzip (RFC 1952): libdeflate for whole bodies, zlib for bodies that come in pieces.
final class GzipEncoder: Encoder {
    let coding = ContentCoding.gzip
    // Nil for the default levels.
    private let level: Int32?
    // True if the context goes back to the pool.
    private let isPooled: Bool
    // Made for the first piece, given back to the pool at the end.
    private var context: GzipContext?
    private var isEnded = false

    init(options: EncoderOptions) throws(CodingError) {
        level = options.gzipLevel
        isPooled = options.effort == .live
    }

    deinit { release() }

    var memoryBytes: Int { context?.memoryBytes ?? 0 }

    /// The maximum number of bytes that coding takes, without the output of libdeflate, which is the caller's.
    static let memoryBytesMax = max(GzipContext.memoryBytes, DeflateContext.contextBytes)

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        guard !isEnded else { throw CodingError(coding, .encode, "the encoder has ended") }
        isEnded = directive == .end
        if isEnded, context == nil, input.count >= CodingLevels.deflateBytesMin {
            return try encodeWhole(input, into: &output)
        }
        let context = try startedContext()
        // Safe: the input is used only within the call.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            var rest = unsafe buffer[...]
            repeat {
                // zlib counts in 32 bits.
                let piece = unsafe rest.prefix(1 << 30)
                unsafe rest = rest.dropFirst(piece.count)
                let flush = unsafe rest.isEmpty ? directive.zlib : Z_NO_FLUSH
                try unsafe deflateAll(UnsafeBufferPointer(rebasing: piece), flush, context, &output)
            } while unsafe !rest.isEmpty
        }
        if isEnded { release() }
    }

    private func encodeWhole(_ body: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        let level = level ?? Int32(CodingLevels.deflate)
        let pooled = isPooled ? DeflateContext.shared.take() : nil
        // After a reload, pooled contexts have another level.
        guard let context = pooled?.level == level ? pooled : DeflateContext(level: level) else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        // Safe: the body is used only within the call.
        let isCoded = unsafe body.withUnsafeBufferPointer { unsafe context.encode($0, into: &output) }
        if isPooled { DeflateContext.shared.give(context) }
        if !isCoded { throw CodingError(coding, .encode, "libdeflate failed") }
    }

    private func startedContext() throws(CodingError) -> GzipContext {
        if let context { return context }
        let level = level ?? Int32(CodingLevels.zlib)
        let pooled = isPooled ? GzipContext.shared.take() : nil
        let context =
            if let pooled, pooled.level == level { pooled } else { try GzipContext(level: level) }
        self.context = context
        return context
    }

    private func deflateAll(
        _ piece: UnsafeBufferPointer<UInt8>, _ flush: Int32, _ context: GzipContext, _ output: inout [UInt8]
    ) throws(CodingError) {
        let stream = unsafe context.stream
        // zlib does not write through next_in; its type lacks the const.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(piece.count)
        var code: Int32
        repeat {
            unsafe stream.pointee.next_out = context.output
            unsafe stream.pointee.avail_out = UInt32(GzipContext.outputBytes)
            // Safe: both buffers are valid for their sizes during the call.
            unsafe code = deflate(stream, flush)
            // Z_BUF_ERROR says that there was nothing to do, as when flushed twice.
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw CodingError(coding, .encode, "deflate returned \(code)")
            }
            let written = unsafe GzipContext.outputBytes - Int(stream.pointee.avail_out)
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: context.output, count: written))
        } while unsafe stream.pointee.avail_out == 0
        guard flush != Z_FINISH || code == Z_STREAM_END else {
            throw CodingError(coding, .end, "deflate did not finish")
        }
    }

    private func release() {
        if let context, isPooled { GzipContext.shared.give(context) }
        context = nil
    }
}

extension EncoderDirective {
    fileprivate var zlib: Int32 {
        switch self {
        case .more: Z_NO_FLUSH
        case .flush: Z_SYNC_FLUSH
        case .end: Z_FINISH
        }
    }
}

/// An owner of a z_stream for gzip at one level, with a buffer for its output.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class GzipContext: CompressionContext, @unchecked Sendable {
    static let shared = ContextPool<GzipContext>()

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

/// An owner of a libdeflate compressor, which codes whole bodies as gzip.
// @unchecked proof: an encoder or the pool has it, never two at once; the pool's lock orders the hand-over.
@safe final class DeflateContext: CompressionContext, @unchecked Sendable {
    static let shared = ContextPool<DeflateContext>()

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

    // Safe: owned, without any other reference.
    deinit { unsafe libdeflate_free_compressor(handle) }

    var memoryBytes: Int { Self.contextBytes }

    // A compressor keeps nothing of a body.
    func reset() -> Bool { true }

    /// Appends the body as gzip; returns false if the library fails.
    func encode(_ body: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) -> Bool {
        let bytesMax = unsafe libdeflate_gzip_compress_bound(handle, body.count)
        let before = output.count
        // Safe: the library writes no more bytes than it is given room for, and returns their count.
        unsafe output.append(upTo: bytesMax) { target in
            unsafe libdeflate_gzip_compress(
                handle, body.baseAddress, body.count, target.baseAddress, target.count)
        }
        return output.count > before
    }
}

/// A decoder of gzip with one or several members (RFC 1952 section 2.2).
@safe final class GzipDecoder: DecoderEngine {
    private enum Position { case start, inMember, afterMember }

    let coding = ContentCoding.gzip
    // A z_stream has its own place on the heap: zlib checks that it has not moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var hasMore = false
    private var position = Position.start
    // By zlib's documentation: its state and a window of 32 KiB.
    let memoryBytes = 48 << 10
    var memoryBytesMax: Int { memoryBytes }

    init() throws(CodingError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe dictum_inflate_init_gzip(stream)
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CodingError(.gzip, .setup, "inflateInit2 returned \(code)")
        }
        unsafe self.stream = stream
    }

    deinit {
        // Safe: owned.
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func step(_ input: Span<UInt8>, capacity: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        if position == .afterMember {
            guard unsafe inflateReset(stream) == Z_OK else {
                throw CodingError(coding, .decode, "inflateReset failed")
            }
        }
        position = .inMember
        // zlib counts in 32 bits.
        let count = min(input.count, 1 << 30)
        // Safe: the buffers are valid during the call, and the output has at least `capacity` bytes, at most a step of
        // the budget.
        try unsafe input.withUnsafeBufferPointer { (source) throws(CodingError) in
            // zlib does not write through next_in; its type lacks the const.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(count)
            try unsafe output.append(upTo: capacity) { (target) throws(CodingError) in
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(capacity)
                try inflateOnce()
                return unsafe capacity - Int(stream.pointee.avail_out)
            }
        }
        hasMore = unsafe position == .inMember && stream.pointee.avail_out == 0
        return unsafe count - Int(stream.pointee.avail_in)
    }

    var isComplete: Bool { position == .afterMember }

    private func inflateOnce() throws(CodingError) {
        switch unsafe inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: position = .afterMember
        case let code:
            // Safe: the library points msg at static text.
            let message = unsafe stream.pointee.msg.map { unsafe String(cString: $0) }
            throw CodingError(coding, .decode, message ?? "inflate returned \(code)")
        }
    }
}
#endif
