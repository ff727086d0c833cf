internal import Dictionaries
internal import Testing

@Suite struct DictionaryFitTests {
    @Test(
        arguments: [
            (300_000, 250_000, true), (1, 0, true), (300_000, 8_388_608, true), (20_000_000, 8_388_608, true),
            (300_000, 8_388_609, false), (300_000, nil, false), (0, 250_000, false),
            (33_554_432, 1_000, true), (33_554_433, 1_000, false), (300_000, Int.max, false),
        ] as [(Int, Int?, Bool)])
    func `dcz needs a dictionary and a body whose length is known and at most 8 MiB`(
        dictionaryBytes: Int, bodyBytes: Int?, isPossible: Bool
    ) {
        #expect(
            DictionaryFit.dczIsPossible(dictionaryBytes: dictionaryBytes, bodyBytes: bodyBytes) == isPossible)
    }

    @Test(arguments: [(0, false), (1, true), (33_554_432, true), (33_554_433, false)])
    func `dcb needs a dictionary of at most 32 MiB`(dictionaryBytes: Int, isPossible: Bool) {
        #expect(DictionaryFit.dcbIsPossible(dictionaryBytes: dictionaryBytes) == isPossible)
    }

    @Test(
        arguments: [
            ([0x37, 0xa4, 0x30, 0xec, 0x00], true), ([0x37, 0xa4, 0x30, 0xec], true),
            ([0x37, 0xa4, 0x30], false),
            ([0xec, 0x30, 0xa4, 0x37], false), ([], false), (Array("{}".utf8), false),
        ] as [([UInt8], Bool)])
    func `dcb is better for a dictionary that looks formatted`(bytes: [UInt8], isPreferred: Bool) {
        #expect(DictionaryFit.prefersDcb(dictionary: Body(bytes)) == isPreferred)
    }

    @Test(
        arguments: [
            (0, 0, 10), (0, 1_024, 10), (0, 1_025, 11), (0, 250_000, 18), (240_000, 304_000, 20),
            (524_288, 524_288, 20), (524_288, 524_289, 21), (4_000_000, 4_000_000, 23),
            (8_388_608, 8_388_608, 23),
            (0, 9_000_000, 23), (300_000, nil, 23), (0, nil, 20), (Int.max, Int.max, 23), (0, Int.max, 23),
        ] as [(Int, Int?, Int)])
    func `the Zstandard window covers dictionary and body up to 8 MiB`(
        dictionaryBytes: Int, bodyBytes: Int?, log: Int
    ) {
        #expect(DictionaryFit.zstdWindowLog(dictionaryBytes: dictionaryBytes, bodyBytes: bodyBytes) == log)
    }

    @Test(
        arguments: [
            (1, nil, 18), (131_072, nil, 18), (131_073, nil, 19), (300_000, nil, 20), (4_000_000, nil, 23),
            (Int.max, nil, 23), (300_000, 1_000, 19),
        ] as [(Int, Int?, Int)])
    func `the Zstandard window of an event stream covers the dictionary and as many bytes of events`(
        dictionaryBytes: Int, bodyBytes: Int?, log: Int
    ) {
        #expect(
            DictionaryFit.zstdWindowLog(
                dictionaryBytes: dictionaryBytes, bodyBytes: bodyBytes, isEventStream: true) == log)
    }

    @Test(
        arguments: [
            (0, 0, 18), (262_128, 0, 18), (262_129, 0, 19), (0, 1, 16), (65_520, 1, 16), (65_521, 1, 17),
            (300_000, 4_000_000, 19), (4_000_000, 0, 22),
            (16_777_200, 0, 24), (16_777_201, 0, 24), (Int.max, 0, 24),
            (nil, 0, 20), (nil, 11_000, 18), (nil, 300_000, 20), (nil, 4_000_000, 22), (nil, Int.max, 22),
        ] as [(Int?, Int, Int)])
    func `the brotli window is the smallest that covers the body`(
        bodyBytes: Int?, dictionaryBytes: Int, window: Int
    ) {
        #expect(DictionaryFit.brotliWindow(bodyBytes: bodyBytes, dictionaryBytes: dictionaryBytes) == window)
    }
}
