internal import TestSupport
internal import Testing

@testable import Dictionaries

/// The memory that decoders report and predict, on streams of other programs.
@Suite(.timeLimit(.minutes(40))) struct DecoderMemoryTests {
    private static let body =
        Noise.bytes(3 << 20, seed: 3) + [UInt8](repeating: 0x20, count: 20 << 20) + Noise.bytes(1000, seed: 4)

    /// The peak memory of the decoder, and the bound that it gave once it had read 18 bytes.
    private func peaks(_ coded: [UInt8], _ coding: ContentCoding) throws -> (held: Int, announced: Int) {
        let decoder = try Codec.decoder(
            for: coding, limits: DecoderLimits(maxBytes: .max, maxRatio: .max))
        var (used, held, announced) = (0, 0, 0)
        var output: [UInt8] = []
        while used < coded.count || decoder.hasMore {
            let end = used < 18 ? 18 : min(coded.count, used + 100_000)
            used += try decoder.decode(coded.span.extracting(used..<end), upTo: 100_000, into: &output)
            held = max(held, decoder.memoryBytes)
            if announced == 0, used >= 18 { announced = decoder.memoryBytesMax }
        }
        try decoder.finish()
        #expect(output == Self.body)
        return (held, announced)
    }

    @Test(arguments: [10, 16, 17, 18, 20, 22, 24])
    func `a br stream says its window in its first byte`(bits: Int) throws {
        let coded = try ForeignTool.run("brotli", ["-q", "5", "-w", "\(bits)", "-c"], input: Self.body)
        #expect(BrotliDecoder.windowBits(coded[0]) == bits)
        let (held, announced) = try peaks(coded, .br)
        #expect(held > 1 << bits)
        #expect(held <= announced && announced <= 1 << bits + 1 << 20, "\(held) of \(announced)")
    }

    @Test func `every window of RFC 7932 section 9-1 is told from the first byte`() {
        let bits = (0...255).map { BrotliDecoder.windowBits(UInt8($0)) }
        #expect(bits.allSatisfy { (10...24).contains($0) })
        #expect(Set(bits) == Set(10...24))
    }

    @Test(arguments: [10, 17, 20, 23])
    func `a zstd stream says its window in the header of its frame`(bits: Int) throws {
        let coded = try ForeignTool.run(
            "zstd", ["-q", "-3", "--zstd=wlog=\(bits)", "-c"], input: Self.body)
        let (held, announced) = try peaks(coded, .zstd)
        #expect(held > 1 << bits)
        #expect(held <= announced && announced <= 1 << bits + 1 << 20, "\(held) of \(announced)")
    }

    @Test func `what has read nothing may come to hold the largest window`() throws {
        for (coding, bytes) in [(ContentCoding.br, 16 << 20), (.zstd, 8 << 20)] {
            let decoder = try Codec.decoder(for: coding, limits: DecoderLimits(maxBytes: .max))
            #expect(decoder.memoryBytesMax > bytes && decoder.memoryBytes < 1 << 20)
        }
    }
}
