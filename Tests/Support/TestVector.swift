internal import Foundation

/// One of the test vectors in `Tests/Vectors`, which foreign encoders made and foreign decoders judged.
package struct TestVector: Decodable, CustomStringConvertible, Sendable {
    package let file, coding, dictionary, verdict: String
    package let plain, error: String?

    package var description: String { file }

    private struct Index: Decodable {
        let vectors: [TestVector]
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Vectors").standardizedFileURL

    package static let all: [TestVector] =
        (try? JSONDecoder().decode(Index.self, from: Data(bytes(of: "index.json"))).vectors) ?? []

    /// Reads a file of the vectors.
    package static func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }
}
