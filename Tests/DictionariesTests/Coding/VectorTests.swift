internal import Dictionaries
internal import Foundation
internal import Testing

/// The test vectors in `Tests/Vectors`, which foreign encoders made and foreign decoders judged.
@Suite struct VectorTests {
    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        let file, coding, dictionary, verdict: String
        let plain, error: String?

        var testDescription: String { file }
    }

    private struct Index: Decodable {
        let vectors: [Vector]
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Vectors").standardizedFileURL

    static let vectors: [Vector] =
        (try? JSONDecoder().decode(Index.self, from: Data(bytes("index.json"))).vectors) ?? []

    /// The stages at which Dictum's decoders refuse a body, by the error of the index.
    private static let stages: [String: Set<CodingError.Stage>] = [
        "header": [.header], "truncated": [.end], "corrupt": [.decode], "trailing": [.decode, .end],
        "window": [.decode], "length": [.limit],
    ]

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    @Test(arguments: vectors)
    func `a body of the test vectors has the verdict of the index`(vector: Vector) throws {
        let coding = try #require(ContentCoding.allCases.first { $0.token == vector.coding })
        let (coded, dictionary) = (try Self.bytes(vector.file), Body(try Self.bytes(vector.dictionary)))
        let limits = DecoderLimits(maxBytes: 16 << 20, maxRatio: 1_000_000)
        let result = Result { () throws(CodingError) in
            try Codec.decode(coded.span, coding, dictionary: dictionary, limits: limits)
        }
        switch result {
        case .success(let body):
            #expect(vector.verdict != "invalid")
            #expect(try body == Self.bytes(#require(vector.plain)))
        case .failure(let error):
            let stages = try #require(Self.stages[vector.error ?? ""], "\(error)")
            #expect(vector.verdict == "invalid" && stages.contains(error.stage), "\(error)")
        }
    }

    @Test func `the test vectors have good and bad bodies of both codings`() {
        for coding in ["dcz", "dcb"] {
            let own = Self.vectors.filter { $0.coding == coding }
            #expect(own.count { $0.verdict == "valid" } >= 4)
            #expect(Set(own.compactMap(\.error)) == Set(Self.stages.keys))
        }
    }
}
