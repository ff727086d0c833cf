internal import CZlib

/// gzip, RFC 1952.
final class GzipEncoder: Encoder {
    let coding = ContentCoding.gzip
    private let effort: Effort
    // Given back to the shelf at the end; nil from then on.
    private var context: GzipContext?

    init(options: EncoderOptions) throws(CodingError) {
        effort = options.effort
        // Only live contexts wait on the shelf: the others have another level and come seldom.
        let waiting = effort == .live ? GzipContext.shared.take() : nil
        if let waiting {
            context = waiting
        } else {
            context = try GzipContext(level: effort.gzipLevel)
        }
    }

    deinit { release() }

    var memoryBytes: Int { context?.memoryBytes ?? 0 }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        guard let context else { throw CodingError(coding, .encode, "the encoder has ended") }
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
        if directive == .end { release() }
    }

    private func deflateAll(
        _ piece: UnsafeBufferPointer<UInt8>, _ flush: Int32, _ context: GzipContext, _ output: inout [UInt8]
    ) throws(CodingError) {
        let stream = unsafe context.stream
        // zlib does not write through next_in; the type lacks the const.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(piece.count)
        var code: Int32
        repeat {
            unsafe stream.pointee.next_out = context.output
            unsafe stream.pointee.avail_out = UInt32(GzipContext.outputBytes)
            // Safe: both buffers are valid for their sizes during the call.
            unsafe code = deflate(stream, flush)
            // Z_BUF_ERROR: nothing to do, as when flushed twice.
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
        if let context, effort == .live { GzipContext.shared.give(context) }
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
