internal import CZlib

/// An encoder of gzip (RFC 1952): libdeflate for whole bodies, zlib for bodies that come in pieces.
final class GzipEncoder: Encoder {
    let coding = ContentCoding.gzip
    // Nil for the default levels.
    private let level: Int32?
    // True if the context goes back to the pool.
    private let isShelved: Bool
    // Made for the first piece, given back to the pool at the end.
    private var context: GzipContext?
    private var isEnded = false

    init(options: EncoderOptions) {
        level = options.gzipLevel
        isShelved = options.effort == .live
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
        let waiting = isShelved ? DeflateContext.shared.take() : nil
        // After a reload, pooled contexts have another level.
        guard let context = waiting?.level == level ? waiting : DeflateContext(level: level) else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        // Safe: the body is used only within the call.
        let isCoded = unsafe body.withUnsafeBufferPointer { unsafe context.encode($0, into: &output) }
        if isShelved { DeflateContext.shared.give(context) }
        if !isCoded { throw CodingError(coding, .encode, "libdeflate failed") }
    }

    private func startedContext() throws(CodingError) -> GzipContext {
        if let context { return context }
        let level = level ?? Int32(CodingLevels.zlib)
        let waiting = isShelved ? GzipContext.shared.take() : nil
        let context =
            if let waiting, waiting.level == level { waiting } else { try GzipContext(level: level) }
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
        if let context, isShelved { GzipContext.shared.give(context) }
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
