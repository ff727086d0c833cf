internal import Foundation

/// A temporary folder for one test; removed with the last reference.
final class TestFolder {
    private let path = NSTemporaryDirectory() + "dictum-proxy-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
