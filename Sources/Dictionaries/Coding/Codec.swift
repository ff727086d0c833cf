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
    ) throws(CodingError) -> Decoder {
        try check(coding, hasDictionary: dictionary != nil)
        let engine: any DecoderEngine =
            switch coding {
            case .identity: IdentityDecoder()
            case .zstd, .dcz: try ZstdDecoder(coding, dictionary: dictionary)
            #if canImport(CBrotli)
            case .gzip: try GzipDecoder()
            case .br, .dcb: try BrotliDecoder(coding, dictionary: dictionary)
            #else
            case .gzip, .br, .dcb: throw CodingError(unlinked: coding)
            #endif
            }
        return Decoder(
            engine,
            header: dictionary.map { DictionaryHeader.bytes(for: coding, digest: $0.digest) } ?? [],
            dictionaryBytes: dictionary?.count ?? 0, limits: limits)
    }

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
        case .zstd, .dcz: ZstdSettings(options: options).memoryEstimate
        #if canImport(CBrotli)
        case .gzip: GzipEncoder.memoryBytesMax
        case .br, .dcb: BrotliEncoder.memoryEstimate(options: options)
        #else
        case .gzip, .br, .dcb: 0
        #endif
        }
    }

    private static func engine(
        for coding: ContentCoding, options: EncoderOptions
    ) throws(CodingError) -> any Encoder {
        switch coding {
        case .identity: IdentityEncoder()
        case .zstd, .dcz: try ZstdEncoder(coding, options: options)
        #if canImport(CBrotli)
        case .gzip: try GzipEncoder(options: options)
        case .br, .dcb: try BrotliEncoder(coding, options: options)
        #else
        case .gzip, .br, .dcb: throw CodingError(unlinked: coding)
        #endif
        }
    }

    private static func check(_ coding: ContentCoding, hasDictionary: Bool) throws(CodingError) {
        guard coding.usesDictionary == hasDictionary else {
            throw CodingError(coding, .setup, hasDictionary ? "takes no dictionary" : "needs a dictionary")
        }
    }
}

/// The bytes at the start of a dictionary-coded body (RFC 9842 sections 4 and 5): a magic number, then the digest.
package enum DictionaryHeader {
    /// The length in bytes of the header of dcz.
    package static let dczBytes = 40

    /// Returns the coding of a body by its magic number, and the digest of the dictionary that it names; nil if it has no
    /// such header.
    package static func read(_ body: [UInt8]) -> (coding: ContentCoding, digest: Digest)? {
        for coding in ContentCoding.overDictionary where body.starts(with: coding.magic) {
            return Digest(bytes: Array(body.dropFirst(coding.magic.count).prefix(Digest.byteCount))).map {
                (coding, $0)
            }
        }
        return nil
    }

    /// Returns the header of `coding` for a dictionary; empty for codings without one.
    static func bytes(for coding: ContentCoding, digest: Digest) -> [UInt8] {
        coding.magic + (coding.usesDictionary ? digest.bytes : [])
    }
}

/// A failure to code or decode a body; nothing more from the same stream can be trusted.
package struct CodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stage of a stream's life at which it failed.
    package enum Stage: String, Sendable {
        /// The codec could not be made: no memory, or options that do not fit together.
        case setup
        /// The header of the coding is missing or names another dictionary (RFC 9842 sections 4 and 5).
        case header
        case encode
        /// The coded bytes do not decode to the body.
        case verify
        case decode
        /// The decoded body would be larger than the limits allow.
        case limit
        /// The stream is cut short, or goes on after its end.
        case end
    }

    package let coding: ContentCoding
    package let stage: Stage
    /// The cause, in the library's words if it has any.
    package let message: String

    package init(_ coding: ContentCoding, _ stage: Stage, _ message: String) {
        self.coding = coding
        self.stage = stage
        self.message = message
    }

    /// The failure as one line for a log.
    package var description: String { "\(coding.token) \(stage.rawValue): \(message)" }
}

extension [UInt8] {
    /// Appends up to `capacity` bytes that a C library writes; `body` returns their count.
    @unsafe mutating func append<Failure: Error>(
        upTo capacity: Int, writtenBy body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        // `append(addingCapacity:)` would write in place, but exists only from Swift 6.3 on. Appending zeroes and
        // overwriting them costs more than copying the output: in a debug build a thousand times more.
        var failure: Failure?
        // Safe: `body` gets no more room than there is, and returns the number of bytes that it initialised.
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            do throws(Failure) {
                count = try unsafe body(buffer)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        // Unless it would waste most of its memory.
        if isEmpty, piece.count > capacity / 2 { self = piece } else { append(contentsOf: piece) }
    }
}
