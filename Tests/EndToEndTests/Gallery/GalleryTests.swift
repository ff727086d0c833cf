internal import Foundation
internal import Testing

/// Real applications from PyPI behind `dictum serve --upstream URL`, asked by clients that are not ours: see `Tests/Gallery/run`.
@Suite(.timeLimit(.minutes(10))) struct GalleryTests {
    private static let driver = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Gallery/run").standardizedFileURL.path

    /// True once the applications are installed; false where PyPI is out of reach.
    private static let isInstalled = (try? run(["--install"]).status) == 0

    private static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let result = try RunningProcess.run([driver] + arguments, of: "/usr/bin/python3")
        return (result.status, result.text + result.errors)
    }

    @Test(.enabled(if: isInstalled, "the applications of the gallery come from PyPI, which is out of reach"))
    func `returning clients of real applications get deltas, exact bodies, and nothing of other users`()
        throws
    {
        let result = try Self.run(["--dictum", RunningProcess.dictum])
        #expect(result.status == 0, "\(result.text)")
    }
}
