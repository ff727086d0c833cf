internal import Dictionaries
internal import Primitives
internal import Testing

/// RFC 9842 section 2.2.
struct AvailableDictionaryTests {
    /// The SHA-256 of the empty body, in Base64.
    static let text = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let digest = Digest(bytes: [
        0xE3, 0xB0, 0xC4, 0x42, 0x98, 0xFC, 0x1C, 0x14, 0x9A, 0xFB, 0xF4, 0xC8, 0x99, 0x6F, 0xB9, 0x24,
        0x27, 0xAE, 0x41, 0xE4, 0x64, 0x9B, 0x93, 0x4C, 0xA4, 0x95, 0x99, 0x1B, 0x78, 0x52, 0xB8, 0x55,
    ])

    @Test(arguments: [
        "", ":", "::", ":=:", "\(text)", ":\(text)", "\(text):", "\":\(text):\"", ":\(text):, :\(text):",
        ":\(text): :\(text):", "::\(text)::", ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuA==:",
        ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUA:", ":47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=:",
        ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF==:", ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NM=JWZG3hSuFU=:",
        ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NM JWZG3hSuFU=:", "(:\(text):)", "?1", "sha256", "1234", ":\(text):;",
        ":\u{E9}7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
    ])
    func `anything but one byte sequence of 32 bytes is as if absent`(line: String) {
        #expect(AvailableDictionary.parse([line]) == nil)
    }

    @Test(arguments: [[], [":\(text):", ":\(text):"], ["", ":\(text):"]])
    func `none or several lines are as if absent`(lines: [String]) {
        #expect(AvailableDictionary.parse(lines) == nil)
    }

    @Test(arguments: [
        ":\(text):", " :\(text):  ", ":\(text):;a", ":\(text):;a=1;b=\"x\"",
        ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU:",
    ])
    func `one byte sequence of 32 bytes is the digest, parameters do not count`(line: String) throws {
        let expected = try #require(Self.digest)
        #expect(AvailableDictionary.parse([line]) == expected)
    }

    @Test func `a line counts up to its limit and not beyond`() {
        func line(bytes: Int) -> String {
            let start = ":\(Self.text):;a="
            return start + String(repeating: "b", count: bytes - start.utf8.count)
        }
        #expect(AvailableDictionary.parse([line(bytes: AvailableDictionary.lineBytesMax)]) == Self.digest)
        #expect(AvailableDictionary.parse([line(bytes: AvailableDictionary.lineBytesMax + 1)]) == nil)
        #expect(AvailableDictionary.lineBytesMax == 1_024)
    }

    @Test func `every digest survives its way over the wire`() {
        for seed in 0..<64 {
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ seed &* 101) }
            let digest = Digest(bytes: bytes)
            #expect(AvailableDictionary.parse([":\(digest?.base64 ?? ""):"]) == digest)
        }
    }
}
