internal import Dictionaries
internal import TestSupport
internal import Testing

@Suite struct DecoderLimitTests {
    @Test(arguments: ContentCoding.allCases, [Corpus.smallFeed, .largeFeed, .sameLarge])
    func `a body of exactly the limit passes and one byte more does not`(
        coding: ContentCoding, corpus: Corpus
    ) throws {
        let coded = try corpus.encoded(coding)
        func decode(_ maxBytes: Int) throws(CodingError) -> Int {
            let limits = DecoderLimits(maxBytes: maxBytes, maxRatio: 1_000_000)
            return try Codec.decode(
                coded.span, coding, dictionary: corpus.dictionary(for: coding), limits: limits
            ).count
        }
        #expect(try decode(corpus.body.count) == corpus.body.count)
        let error = #expect(throws: CodingError.self) { try decode(corpus.body.count - 1) }
        #expect(error?.stage == .limit)
        #expect(error?.message == "the body has more than \(corpus.body.count - 1) bytes")
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd])
    func `a bomb is stopped before it is built`(coding: ContentCoding) throws {
        let zeros = [UInt8](repeating: 0, count: 16 << 20)
        let coded = try Codec.encode(zeros.span, coding)
        let decoder = try Codec.decoder(for: coding, limits: DecoderLimits(maxBytes: 1 << 40))
        var output: [UInt8] = []
        let error = #expect(throws: CodingError.self) { try decoder.decode(coded.span, into: &output) }
        #expect(error?.stage == .limit)
        #expect(error?.message == "the body has more than 100 times the bytes of its coded form")
        #expect(output.count <= 64 << 10 + coded.count * 100 + 1)
        #expect(throws: CodingError.self) { try decoder.finish() }
    }

    @Test(arguments: [ContentCoding.gzip, .br, .zstd])
    func `the ratio is not counted before 64 KiB`(coding: ContentCoding) throws {
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        let coded = try Codec.encode(zeros.span, coding)
        let decoded = try Codec.decode(
            coded.span, coding, limits: DecoderLimits(maxBytes: 1 << 40, maxRatio: 0))
        #expect(decoded == zeros)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `the dictionary counts as read, so that a small delta is no bomb`(coding: ContentCoding) throws {
        let corpus = Corpus.sameLarge
        let coded = try corpus.encoded(coding)
        #expect(corpus.body.count > coded.count * 100)
        let decoded = try Codec.decode(
            coded.span, coding, dictionary: corpus.dictionary, limits: DecoderLimits(maxBytes: 8 << 20))
        #expect(decoded == corpus.body)
    }

    @Test func `a limit without bounds does not trap`() throws {
        let corpus = Corpus.smallFeed
        let coded = try corpus.encoded(.zstd)
        let limits = DecoderLimits(maxBytes: .max, maxRatio: .max)
        #expect(try Codec.decode(coded.span, .zstd, limits: limits) == corpus.body)
    }
}
