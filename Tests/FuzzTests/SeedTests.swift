internal import Foundation
internal import FuzzTargets
internal import Testing

/// The inputs that fuzzing starts from, and those that it once broke something with, keep the rules.
struct SeedTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpora")

    @Test("Every seed and every former finding keeps the rules of its parser", arguments: FuzzTarget.allCases)
    func seeds(target: FuzzTarget) throws {
        let folder = Self.folder.appendingPathComponent(target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 3)
        for file in files { target.check([UInt8](try Data(contentsOf: file))) }
    }
}
