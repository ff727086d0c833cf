internal import CZstd

/// An encoder of zstd, and of dcz behind its header.
final class ZstdEncoder: Encoder {
    let coding: ContentCoding
    private let effort: Effort
    // Given back to the pool at the end, and nil from then on.
    private var context: ZstdContext?
    // The context points into it.
    private let dictionary: DictionaryUse?

    init(_ coding: ContentCoding, options: EncoderOptions) throws(CodingError) {
        let waiting = options.effort != .kept ? ZstdContext.shared.take() : nil
        guard let context = waiting ?? ZstdContext() else {
            throw CodingError(coding, .setup, "memory exhausted")
        }
        self.coding = coding
        effort = options.effort
        self.context = context
        dictionary = options.dictionary
        try configure(context, options)
    }

    deinit { release() }

    var memoryBytes: Int { context?.memoryBytes ?? 0 }

    func encode(
        _ input: Span<UInt8>, _ directive: EncoderDirective, into output: inout [UInt8]
    ) throws(CodingError) {
        guard let context else { throw CodingError(coding, .encode, "the encoder has ended") }
        // Safe: the input is used only within the call; `compress` keeps no pointer to it.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            try unsafe compress(buffer, directive, context, &output)
        }
        if directive == .end { release() }
    }

    private func configure(_ context: ZstdContext, _ options: EncoderOptions) throws(CodingError) {
        let handle = unsafe context.handle
        try ZstdSettings(options: options).forEach { (parameter, value) throws(CodingError) in
            try Zstd.check(unsafe ZSTD_CCtx_setParameter(handle, parameter, value), coding, .setup)
        }
        if let bodyBytes = options.bodyBytes {
            try Zstd.check(
                unsafe ZSTD_CCtx_setPledgedSrcSize(handle, UInt64(clamping: bodyBytes)), coding, .setup)
        }
        switch options.dictionary {
        case nil:
            break
        case .reference(let body):
            // As raw content, whatever its first bytes are (RFC 9842 section 5). It holds for one frame, and the
            // body is one. Safe: `dictionary` keeps the body as long as self.
            let code = unsafe ZSTD_CCtx_refPrefix_advanced(
                handle, body.stableAddress, body.count, ZSTD_dct_rawContent)
            try Zstd.check(code, coding, .setup)
        case .prepared(let prepared):
            guard case .zstd(let tables) = prepared.tables else {
                throw CodingError(coding, .setup, "the dictionary was prepared for another coding")
            }
            // Safe: `dictionary` keeps the tables as long as self.
            try Zstd.check(unsafe ZSTD_CCtx_refCDict(handle, tables.handle), coding, .setup)
        }
    }

    private func compress(
        _ buffer: UnsafeBufferPointer<UInt8>, _ directive: EncoderDirective, _ context: ZstdContext,
        _ output: inout [UInt8]
    ) throws(CodingError) {
        var input = unsafe ZSTD_inBuffer(src: buffer.baseAddress, size: buffer.count, pos: 0)
        while true {
            let before = unsafe input.pos
            var room = unsafe ZSTD_outBuffer(dst: context.output, size: ZstdContext.outputBytes, pos: 0)
            // Safe: both buffers are valid for their sizes during the call.
            let code = unsafe ZSTD_compressStream2(context.handle, &room, &input, directive.zstd)
            let remaining = try Zstd.check(code, coding, .encode)
            unsafe output.append(contentsOf: UnsafeRawBufferPointer(start: room.dst, count: room.pos))
            // Zero means that all was written, for `flush` and `end`; `more` is done once all input is read.
            if unsafe directive == .more ? input.pos == input.size : remaining == 0 { return }
            guard unsafe room.pos > 0 || input.pos > before else {
                throw CodingError(coding, .encode, "no progress")
            }
        }
    }

    private func release() {
        // Contexts for kept bodies have many megabytes and are seldom needed.
        if let context, effort != .kept { ZstdContext.shared.give(context) }
        context = nil
    }
}

extension EncoderDirective {
    fileprivate var zstd: ZSTD_EndDirective {
        switch self {
        case .more: ZSTD_e_continue
        case .flush: ZSTD_e_flush
        case .end: ZSTD_e_end
        }
    }
}
