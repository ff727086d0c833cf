internal import Foundation
internal import TestSupport
internal import Testing

/// A real browser without a window, on one page, with a profile of its own; ends with this object.
final class Chromium {
    /// Where it is; nil where there is none.
    static let program = [
        "/usr/bin/chromium", "/usr/bin/google-chrome-stable", "/usr/bin/google-chrome",
    ].first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Why tests are skipped where there is none.
    static let absence: Comment =
        "no Chromium: Debian's package is chromium; Ubuntu has it as a snap only, which such a test cannot drive"

    /// What runs it.
    let process: RunningProcess
    private let home: TemporaryFolder

    /// Opens a page; `certificates` are those whose `server.pem` it trusts.
    init(_ url: String, trusting certificates: TestCertificates? = nil) throws {
        home = try TemporaryFolder()
        let program = try #require(Self.program)
        var options = [
            // The pages are ours, and containers have no user namespaces to make a sandbox of.
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-proxy-server",
            "--host-resolver-rules=MAP *.test 127.0.0.1",
            "--user-data-dir=\(home.path)/profile",
        ]
        if let certificates {
            options.append("--ignore-certificate-errors-spki-list=\(try Self.keyDigest(certificates))")
        }
        process = try RunningProcess(
            options + [url], of: program, in: home.path, environment: ["HOME": home.path])
    }

    deinit {
        // Asked to end it takes its children with it, and no longer writes to the folder.
        if (try? process.terminate()) == nil { process.stop() }
    }

    /// The SHA-256 of the public key of a server, in base64.
    private static func keyDigest(_ certificates: TestCertificates) throws -> String {
        try RunningProcess.run(
            [
                "-c",
                "openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform der "
                    + "| openssl dgst -sha256 -binary | base64 -w0",
            ], of: "/bin/bash", in: certificates.path
        ).text
    }
}
