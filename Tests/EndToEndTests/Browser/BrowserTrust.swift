internal import Foundation
internal import TestSupport
internal import Testing

/// The authorities that a browser trusts besides its own: a database in a folder, which Mozilla's certutil makes.
enum BrowserTrust {
    private static let certutil = "/usr/bin/certutil"

    /// True if `certutil`, which makes the databases, is installed.
    static let isPossible = FileManager.default.isExecutableFile(atPath: certutil)

    /// Makes a database with a test's certificate authority.
    static func make(in folder: String, trusting certificates: TestCertificates) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for arguments in [
            ["-N", "-d", "sql:\(folder)", "--empty-password"],
            [
                "-A", "-d", "sql:\(folder)", "-n", "authority", "-t", "C,,", "-i",
                certificates.file("ca.pem"),
            ],
        ] {
            let result = try RunningProcess.run(arguments, of: certutil, in: folder)
            try #require(result.status == 0, "\(result.errors)")
        }
    }
}
