/// The codings: makers of encoders and decoders, and coding of whole bodies.
package enum Codec {
    /// Makes an encoder for one body.
    ///
    /// Throws if the coding and the dictionary do not belong together, or if memory is exhausted.
    package static func encoder(
        for coding: ContentCoding, options: EncoderOptions = EncoderOptions()
    ) throws(CodingError) -> any Encoder {
        try check(coding, hasDictionary: options.dictionary != nil)
        return CheckedEncoder(
            try engine(for: coding, options: options),
            header: options.dictionary.map { DictionaryHeader.bytes(for: coding, digest: $0.body.digest) }
                ?? [],
            bodyBytes: options.bodyBytes)
    }

    /// Codes a whole body, whose length replaces `options.bodyBytes`.
    package static func encode(
        _ body: Span<UInt8>, _ coding: ContentCoding, options: EncoderOptions = EncoderOptions()
    ) throws(CodingError) -> [UInt8] {
        var options = options
        options.bodyBytes = body.count
        let encoder = try encoder(for: coding, options: options)
        var output: [UInt8] = []
        try encoder.encode(body, .end, into: &output)
        return output
    }

    /// Makes a decoder for one body; dcb and dcz need a dictionary, the other codings refuse one.
    package static func decoder(
        for coding: ContentCoding, dictionary: Body? = nil, limits: DecoderLimits
    ) throws(CodingError) -> any Decoder {
        try check(coding, hasDictionary: dictionary != nil)
        let budget = DecoderBudget(coding: coding, dictionaryBytes: dictionary?.count ?? 0, limits: limits)
        let engine: any DecoderEngine =
            switch coding {
            case .identity: IdentityDecoder()
            case .gzip: try GzipDecoder()
            case .br, .dcb: try BrotliDecoder(coding, dictionary: dictionary)
            case .zstd, .dcz: try ZstdDecoder(coding, dictionary: dictionary)
            }
        return CheckedDecoder(
            engine,
            header: dictionary.map { DictionaryHeader.bytes(for: coding, digest: $0.digest) } ?? [],
            budget: budget)
    }

    /// Decodes a whole body.
    package static func decode(
        _ coded: Span<UInt8>, _ coding: ContentCoding, dictionary: Body? = nil, limits: DecoderLimits
    ) throws(CodingError) -> [UInt8] {
        let decoder = try decoder(for: coding, dictionary: dictionary, limits: limits)
        var output: [UInt8] = []
        try decoder.decode(coded, into: &output)
        try decoder.finish()
        return output
    }

    /// Returns the bytes of memory that an encoder made with these options holds at its peak, for budgets.
    package static func memoryEstimate(for coding: ContentCoding, options: EncoderOptions) -> Int {
        switch coding {
        case .identity: 0
        case .gzip: GzipEncoder.memoryBytesMax
        case .br, .dcb: BrotliEncoder.memoryEstimate(options: options)
        case .zstd, .dcz: ZstdSettings(options: options).memoryEstimate
        }
    }

    private static func engine(
        for coding: ContentCoding, options: EncoderOptions
    ) throws(CodingError) -> any Encoder {
        switch coding {
        case .identity: IdentityEncoder()
        case .gzip: GzipEncoder(options: options)
        case .br, .dcb: try BrotliEncoder(coding, options: options)
        case .zstd, .dcz: try ZstdEncoder(coding, options: options)
        }
    }

    private static func check(_ coding: ContentCoding, hasDictionary: Bool) throws(CodingError) {
        guard coding.usesDictionary == hasDictionary else {
            throw CodingError(coding, .setup, hasDictionary ? "takes no dictionary" : "needs a dictionary")
        }
    }
}
