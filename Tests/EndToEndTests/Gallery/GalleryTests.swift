internal import Foundation
internal import Testing

/// Tests real applications from PyPI behind `dictum serve --upstream URL` with foreign clients (`Tests/Gallery/run`).
///
/// They run one after the other, since each starts several programs under the usual time limit.
@Suite(.serialized, .timeLimit(.minutes(40))) struct GalleryTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Gallery").standardizedFileURL

    /// The applications: the programs that serve.
    static let applications: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder.appending(path: "applications"), includingPropertiesForKeys: nil)
        return (files ?? []).filter { file in
            (try? String(contentsOf: file, encoding: .utf8))?.contains("\n    gallery.serve(") == true
        }.map { $0.deletingPathExtension().lastPathComponent }.sorted()
    }()

    /// True once the applications are installed; false where PyPI is out of reach.
    static let isInstalled = (try? run(["--install"]).status) == 0

    private static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let driver = folder.appending(path: "run").path
        let result = try RunningProcess.run([driver] + arguments, of: "/usr/bin/python3")
        return (result.status, result.text + result.errors)
    }

    @Test(
        .enabled(if: isInstalled, "the applications of the gallery come from PyPI, which is out of reach"),
        arguments: applications)
    func `returning clients of a real application get deltas, exact bodies, and nothing of other users`(
        application: String
    ) throws {
        let result = try Self.run(["--dictum", RunningProcess.dictum, "--only", application])
        #expect(result.status == 0, "\(result.text)")
    }

    @Test func `the gallery has applications`() {
        #expect(Self.applications.count >= 7, "\(Self.applications)")
    }
}
