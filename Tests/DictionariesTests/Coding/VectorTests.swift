internal import Dictionaries
internal import TestSupport
internal import Testing

@Suite struct VectorTests {
    /// The stages at which Dictum's decoders refuse a body, by the error of the index.
    private static let stages: [String: Set<CodingError.Stage>] = [
        "header": [.header], "truncated": [.end], "corrupt": [.decode], "trailing": [.decode, .end],
        "window": [.decode], "length": [.limit],
    ]

    @Test(arguments: TestVector.all)
    func `a body of the test vectors has the verdict of the index`(vector: TestVector) throws {
        let coding = try #require(ContentCoding.allCases.first { $0.token == vector.coding })
        let coded = try TestVector.bytes(of: vector.file)
        let dictionary = Body(try TestVector.bytes(of: vector.dictionary))
        let limits = DecoderLimits(maxBytes: 16 << 20, maxRatio: 1_000_000)
        let result = Result { () throws(CodingError) in
            try Codec.decode(coded.span, coding, dictionary: dictionary, limits: limits)
        }
        switch result {
        case .success(let body):
            #expect(vector.verdict != "invalid")
            #expect(try body == TestVector.bytes(of: #require(vector.plain)))
        case .failure(let error):
            let stages = try #require(Self.stages[vector.error ?? ""], "\(error)")
            #expect(vector.verdict == "invalid" && stages.contains(error.stage), "\(error)")
        }
    }

    @Test func `the test vectors have good and bad bodies of both codings`() {
        for coding in ["dcz", "dcb"] {
            let own = TestVector.all.filter { $0.coding == coding }
            #expect(own.count { $0.verdict == "valid" } >= 4)
            #expect(Set(own.compactMap(\.error)) == Set(Self.stages.keys))
        }
    }
}
