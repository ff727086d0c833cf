internal import Testing

@testable import Dictionaries

/// The levels of the libraries.
struct EncoderOptionsTests {
    @Test(
        arguments: [(.fast, 1, 5, 1), (.live, nil, 5, 8), (.kept, 9, 11, 19)]
            as [(Effort, Int32?, Int, Int32)])
    func `the more time there is, the higher the level`(effort: Effort, gzip: Int32?, br: Int, zstd: Int32) {
        let options = EncoderOptions(bodyBytes: 100_000, effort: effort)
        #expect(options.gzipLevel == gzip)
        #expect(options.brotliQuality == br)
        #expect(options.zstdLevel == zstd)
    }

    @Test(arguments: Effort.allCases)
    func `a given level is for what is coded while the client waits`(effort: Effort) {
        let options = EncoderOptions(effort: effort, level: 4)
        let isUsed = effort == .live
        #expect((options.gzipLevel == 4) == isUsed)
        #expect((options.brotliQuality == 4) == isUsed)
        #expect((options.zstdLevel == 4) == isUsed)
    }

    @Test func `a given level is not for deltas`() {
        let options = EncoderOptions(dictionary: .reference(Body([1, 2, 3])), level: 9)
        #expect(options.brotliQuality == 5)
        #expect(options.zstdLevel == 3)
    }

    @Test(
        arguments: [(nil, 9), (0, 6), (16_383, 6), (16_384, 8), (131_071, 8), (131_072, 7), (1 << 30, 7)]
            as [(Int?, Int32)])
    func `the level of zstd follows the length`(bodyBytes: Int?, level: Int32) {
        #expect(EncoderOptions(bodyBytes: bodyBytes).zstdLevel == level)
    }
}
