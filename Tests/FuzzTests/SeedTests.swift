internal import Foundation
internal import FuzzTargets
internal import Testing

/// The inputs that fuzzing starts from, and those that it once broke something with, keep the rules: without a fuzzer too.
struct SeedTests {
    /// One input, named as its file.
    struct Seed: Sendable, CustomTestStringConvertible {
        let target: FuzzTarget
        let file: URL

        var testDescription: String { "\(target.rawValue)/\(file.lastPathComponent)" }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpora")

    private static func seeds(of target: FuzzTarget) throws -> [Seed] {
        let folder = folder.appendingPathComponent(target.rawValue)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { Seed(target: target, file: $0) }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `every parser that is fuzzed has seeds`(target: FuzzTarget) throws {
        #expect(try Self.seeds(of: target).count >= 3)
    }

    @Test func `every folder of seeds is a parser's`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(FuzzTarget.allCases.map(\.rawValue)))
    }

    @Test(arguments: try FuzzTarget.allCases.flatMap { try seeds(of: $0) })
    func `seeds and former findings keep the rules of their parser`(seed: Seed) throws {
        try seed.target.check([UInt8](try Data(contentsOf: seed.file)))
    }
}
