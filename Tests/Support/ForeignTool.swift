internal import Foundation

/// A program that is not ours and judges what we produce.
package enum ForeignTool {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a filter over bytes; `files` are written first and named in the arguments by their keys.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8], files: [String: [UInt8]] = [:]
    ) throws -> [UInt8] {
        let temporary = try TemporaryFolder()
        defer { withExtendedLifetime(temporary) {} }
        let folder = URL(filePath: temporary.path)
        for (name, bytes) in files { try temporary.write(bytes, to: name) }
        // Files and not pipes: no buffer can fill up while the other side waits.
        let (inputFile, outputFile) = (folder.appending(path: "input"), folder.appending(path: "output"))
        try Data(input).write(to: inputFile)
        try Data().write(to: outputFile)

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) ended with \(process.terminationStatus)")
        }
        return [UInt8](try Data(contentsOf: outputFile))
    }
}
