internal import Dictionaries
internal import TestSupport
internal import Testing

/// The tests that every coding passes on every corpus; a new coding or corpus joins one list.
@Suite struct CodecContractTests {
    @Test(arguments: ContentCoding.allCases, Corpus.all)
    func `a body coded at once comes back`(coding: ContentCoding, corpus: Corpus) throws {
        #expect(try corpus.decoded(corpus.encoded(coding), coding) == corpus.body)
    }

    @Test(arguments: ContentCoding.allCases, Corpus.small + [.largeFeed])
    func `a body coded to be kept comes back`(coding: ContentCoding, corpus: Corpus) throws {
        #expect(try corpus.decoded(corpus.encoded(coding, effort: .kept), coding) == corpus.body)
    }

    @Test(arguments: ContentCoding.allCases, Corpus.all)
    func `a body of unknown length coded and decoded in odd pieces comes back`(
        coding: ContentCoding, corpus: Corpus
    ) throws {
        let encoder = try Codec.encoder(for: coding, options: corpus.options(coding))
        var coded: [UInt8] = []
        for piece in oddPieces(corpus.body) { coded += try encoder.encode(piece, .more) }
        coded += try encoder.encode([], .end)

        let decoder = try Codec.decoder(
            for: coding, dictionary: corpus.dictionary(for: coding), limits: roomyLimits)
        var decoded: [UInt8] = []
        for piece in oddPieces(coded) { try decoder.decode(piece.span, into: &decoded) }
        try decoder.finish()
        #expect(decoded == corpus.body)
    }

    @Test(arguments: ContentCoding.allCases, Corpus.all)
    func `decoded in bounded pieces no call writes more than it may, and the body comes back`(
        coding: ContentCoding, corpus: Corpus
    ) throws {
        let coded = try corpus.encoded(coding)
        let decoder = try Codec.decoder(
            for: coding, dictionary: corpus.dictionary(for: coding), limits: roomyLimits)
        var decoded: [UInt8] = []
        var used = 0
        var bound = 1
        while used < coded.count || decoder.hasMore {
            // Input and room may each be a single byte; later there is more input than room.
            let end = min(used + 2 * bound - 1, coded.count)
            var piece: [UInt8] = []
            used += try decoder.decode(coded.span.extracting(used..<end), upTo: bound, into: &piece)
            #expect(piece.count <= bound)
            decoded += piece
            bound = min(bound * 2 + 1, 100_000)
        }
        try decoder.finish()
        #expect(decoded == corpus.body)
    }

    @Test(arguments: ContentCoding.allCases, Corpus.all)
    func `after a flush the peer can decode all that was given`(coding: ContentCoding, corpus: Corpus) throws
    {
        let encoder = try Codec.encoder(
            for: coding, options: corpus.options(coding, bodyBytes: corpus.body.count))
        let decoder = try Codec.decoder(
            for: coding, dictionary: corpus.dictionary(for: coding), limits: roomyLimits)
        for piece in oddPieces(corpus.body) {
            #expect(try decoder.decode(encoder.encode(piece, .flush)) == piece)
        }
        #expect(try decoder.decode(encoder.encode([], .end)) == [])
        try decoder.finish()
    }

    @Test(arguments: ContentCoding.allCases)
    func `flushing with nothing to flush adds nothing that harms`(coding: ContentCoding) throws {
        let corpus = Corpus.smallFeed
        let encoder = try Codec.encoder(for: coding, options: corpus.options(coding))
        var coded = try encoder.encode([], .flush)
        coded += try encoder.encode(corpus.body, .flush)
        for _ in 0..<3 { coded += try encoder.encode([], .flush) }
        coded += try encoder.encode([], .end)
        #expect(try corpus.decoded(coded, coding) == corpus.body)
    }

    @Test(arguments: ContentCoding.allCases, [Corpus.smallFeed, .noise])
    func `a stream cut short is refused wherever it is cut`(coding: ContentCoding, corpus: Corpus) throws {
        guard coding != .identity else { return }
        let coded = try corpus.encoded(coding)
        let places = Array(0..<min(coded.count, 60)) + [coded.count / 2, coded.count - 2, coded.count - 1]
        for count in places {
            #expect(throws: CodingError.self, "cut to \(count)") {
                try corpus.decoded(Array(coded.prefix(count)), coding)
            }
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `bytes after the end are refused`(coding: ContentCoding) throws {
        guard coding != .identity else { return }
        let corpus = Corpus.smallFeed
        let coded = try corpus.encoded(coding)
        for tail in [[0], [0x0a], Array("trailer".utf8)] as [[UInt8]] {
            #expect(throws: CodingError.self) { try corpus.decoded(coded + tail, coding) }
            let decoder = try Codec.decoder(
                for: coding, dictionary: corpus.dictionary(for: coding), limits: roomyLimits)
            #expect(throws: CodingError.self) {
                _ = try decoder.decode(coded)
                _ = try decoder.decode(tail)
                try decoder.finish()
            }
        }
    }

    // Brotli has no checksum; dcb's header is tested by itself.
    @Test(arguments: [ContentCoding.gzip, .zstd, .dcz])
    func `a changed byte never gives another body`(coding: ContentCoding) throws {
        let corpus = Corpus.smallFeed
        let coded = try corpus.encoded(coding)
        var refusals = 0
        for index in coded.indices {
            var changed = coded
            changed[index] ^= 1 << UInt8(index % 8)
            if let decoded = try? corpus.decoded(changed, coding) {
                #expect(decoded == corpus.body, "byte \(index)")
            } else {
                refusals += 1
            }
        }
        #expect(refusals > coded.count * 9 / 10)
    }

    @Test(arguments: ContentCoding.allCases)
    func `the same body gives the same bytes, whatever was coded before`(coding: ContentCoding) throws {
        let corpus = Corpus.largeFeed
        let first = try corpus.encoded(coding)
        for other in ContentCoding.allCases {
            // One encoder is abandoned half-way and one fails: their contexts must carry nothing over.
            let abandoned = try Codec.encoder(for: other, options: Corpus.noise.options(other))
            _ = try abandoned.encode(Corpus.noise.body, .more)
            let failing = try Codec.encoder(
                for: other, options: Corpus.smallFeed.options(other, bodyBytes: 5))
            #expect(throws: CodingError.self) { try failing.encode(Corpus.smallFeed.body, .end) }
        }
        #expect(try corpus.encoded(coding) == first)
    }

    @Test(arguments: ContentCoding.allCases)
    func `nothing is coded after the end`(coding: ContentCoding) throws {
        let encoder = try Codec.encoder(for: coding, options: Corpus.smallFeed.options(coding))
        _ = try encoder.encode([1, 2, 3], .end)
        for directive in [EncoderDirective.more, .flush, .end] {
            #expect(throws: CodingError.self) { try encoder.encode([], directive) }
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `a body of another length than announced fails, and the encoder stays failed`(
        coding: ContentCoding
    ) throws {
        let options = Corpus.smallFeed.options(coding, bodyBytes: 3)
        for (pieces, directive) in [([1, 2], .end), ([1, 2, 3, 4], .more)] as [([UInt8], EncoderDirective)] {
            let encoder = try Codec.encoder(for: coding, options: options)
            #expect(throws: CodingError.self) { try encoder.encode(pieces, directive) }
            #expect(throws: CodingError.self) { try encoder.encode([1, 2, 3], .end) }
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `an announced length beyond all bounds does not trap`(coding: ContentCoding) throws {
        let encoder = try Codec.encoder(
            for: coding, options: Corpus.smallFeed.options(coding, bodyBytes: Int.max))
        _ = try encoder.encode(Corpus.smallFeed.body, .flush)
        #expect(throws: CodingError.self) { try encoder.encode([], .end) }
    }

    @Test(arguments: ContentCoding.allCases, [Corpus.smallFeed, .largeFeed, .sameLarge])
    func `an encoder stays within its memory estimate`(coding: ContentCoding, corpus: Corpus) throws {
        for effort in Effort.allCases where effort == .live || corpus.body.count < 1 << 20 {
            for bodyBytes in [corpus.body.count, nil] {
                let options = corpus.options(coding, effort: effort, bodyBytes: bodyBytes)
                let encoder = try Codec.encoder(for: coding, options: options)
                _ = try encoder.encode(corpus.body, .flush)
                // Live contexts are reused and keep the memory of the largest body before.
                let isReused = effort != .kept && (coding == .zstd || coding == .dcz)
                let estimate = Codec.memoryEstimate(for: coding, options: options)
                #expect(encoder.memoryBytes <= max(estimate, isReused ? 8 << 20 : 0))
            }
        }
    }

    @Test func `only dcb and dcz take a dictionary, and they must`() {
        for coding in ContentCoding.allCases {
            let wrong = EncoderOptions(
                dictionary: coding.usesDictionary ? nil : .reference(Corpus.smallFeed.dictionary))
            #expect(throws: CodingError.self) { try Codec.encoder(for: coding, options: wrong) }
            #expect(throws: CodingError.self) {
                try Codec.decoder(for: coding, dictionary: wrong.dictionary?.body, limits: roomyLimits)
            }
        }
    }
}
