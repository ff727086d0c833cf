internal import Foundation
internal import Primitives

/// A Python of its own with packages of PyPI, which tests judge with.
enum PythonEnvironment {
    /// Held while an environment is made: two tests may want the same one.
    private static let making = NSLock()

    /// The path of the interpreter; nil if PyPI is out of reach.
    ///
    /// The environment stays beside the test bundle for the next run.
    static func python(_ name: String, with packages: [String]) throws -> String? {
        try making.withLock { try made(name, with: packages) }
    }

    private static func made(_ name: String, with packages: [String]) throws -> String? {
        let folder = URL(filePath: RunningProcess.dictum).deletingLastPathComponent()
            .appending(path: "\(name)-environment").path
        let (python, done) = ("\(folder)/bin/python", "\(folder)/\(packages.joined(separator: "+"))")
        if FileManager.default.fileExists(atPath: done) { return python }
        let made = try RunningProcess.run(["-m", "venv", "--clear", folder], of: "/usr/bin/python3")
        guard made.status == 0 else { return nil }
        let installed = try RunningProcess.run(
            ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--timeout", "20"] + packages,
            of: python)
        guard installed.status == 0 else { return nil }
        _ = FileManager.default.createFile(atPath: done, contents: nil)
        return python
    }
}
