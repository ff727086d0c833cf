internal import Dictionaries
internal import TestSupport
internal import Testing

@Suite struct PreparedDictionaryTests {
    private static func prepare(_ dictionary: Body, _ coding: ContentCoding) throws -> PreparedDictionary {
        try PreparedDictionary(dictionary, for: coding)
    }

    private static func encode(_ corpus: Corpus, _ prepared: PreparedDictionary) throws -> [UInt8] {
        try Codec.encode(
            corpus.body.span, prepared.coding, options: EncoderOptions(dictionary: .prepared(prepared)))
    }

    @Test(arguments: [ContentCoding.dcb, .dcz], Corpus.all)
    func `a body over a prepared dictionary comes back`(coding: ContentCoding, corpus: Corpus) throws {
        let prepared = try Self.prepare(corpus.dictionary, coding)
        #expect(prepared.coding == coding)
        let coded = try Self.encode(corpus, prepared)
        #expect(try corpus.decoded(coded, coding) == corpus.body)
        // Preparing saves time, not bytes.
        let unprepared = try corpus.encoded(coding)
        #expect(Double(coded.count) <= Double(unprepared.count) * 1.05 + 16)
    }

    @Test(arguments: [1, 16 << 10, 255_315, 1 << 20, 4 << 20])
    func `an encoder that indexes a dictionary for itself counts the index`(dictionaryBytes: Int) throws {
        let dictionary = Body(Noise.bytes(dictionaryBytes, seed: 5))
        let prepared = try PreparedDictionary(dictionary, for: .dcb)
        let estimate = { (use: DictionaryUse) in
            Codec.memoryEstimate(for: .dcb, options: EncoderOptions(bodyBytes: 1000, dictionary: use))
        }
        let index = estimate(.reference(dictionary)) - estimate(.prepared(prepared))
        #expect((prepared.memoryBytes...prepared.memoryBytes * 5 / 4 + 512 << 10).contains(index))
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a dictionary prepared for the other coding is refused`(coding: ContentCoding) throws {
        let other = try Self.prepare(Corpus.smallFeed.dictionary, coding == .dcb ? .dcz : .dcb)
        #expect(throws: CodingError.self) {
            try Codec.encoder(for: coding, options: EncoderOptions(dictionary: .prepared(other)))
        }
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `eight threads share one prepared dictionary`(coding: ContentCoding) async throws {
        let corpus = Corpus.largeFeed
        let prepared = try Self.prepare(corpus.dictionary, coding)
        let expected = try Self.encode(corpus, prepared)
        try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<8 {
                group.addTask { try (0..<10).map { _ in try Self.encode(corpus, prepared) } }
            }
            for try await results in group {
                #expect(results.allSatisfy { $0 == expected })
            }
        }
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `an encoder keeps its prepared dictionary alive`(coding: ContentCoding) throws {
        let corpus = Corpus.smallFeed
        func encoder() throws -> any Encoder {
            let prepared = try Self.prepare(Body(corpus.dictionary.bytes), coding)
            return try Codec.encoder(for: coding, options: EncoderOptions(dictionary: .prepared(prepared)))
        }
        let coded = try encoder().encode(corpus.body, .end)
        #expect(try corpus.decoded(coded, coding) == corpus.body)
    }

    @Test(arguments: [Corpus.smallFeed, .largeFeed, .sameLarge])
    func `a prepared dictionary takes at most 14 times its dictionary, or 512 KB`(corpus: Corpus) throws {
        for coding in [ContentCoding.dcb, .dcz] {
            let bytes = try Self.prepare(corpus.dictionary, coding).memoryBytes
            #expect(1...max(corpus.dictionary.count * 14, 512 << 10) ~= bytes)
        }
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `the memory estimate counts the tables that a large dictionary asks for`(coding: ContentCoding)
        throws
    {
        let corpus = Corpus.sameLarge
        let prepared = try Self.prepare(corpus.dictionary, coding)
        let options = EncoderOptions(bodyBytes: corpus.body.count, dictionary: .prepared(prepared))
        let encoder = try Codec.encoder(for: coding, options: options)
        _ = try encoder.encode(corpus.body, .flush)
        let estimate = Codec.memoryEstimate(for: coding, options: options)
        #expect(encoder.memoryBytes / 2...encoder.memoryBytes * 4 ~= estimate)
    }

    // On libzstd 1.5.7 the default tables of level 3 reach only the end of a large dictionary.
    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a large body equal to its dictionary takes under 2 KB`(coding: ContentCoding) throws {
        let corpus = Corpus.sameLarge
        #expect(try corpus.encoded(coding).count < 2_000)
        #expect(try Self.encode(corpus, Self.prepare(corpus.dictionary, coding)).count < 2_000)
    }
}
