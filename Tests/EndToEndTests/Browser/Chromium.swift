internal import Foundation
internal import TestSupport
internal import Testing

/// A real browser without a window, on one page, with a profile of its own; ends with this object.
final class Chromium: Browser {
    /// The path of the browser, or nil if it is not installed.
    static let program =
        BrowserTrust.isPossible
        ? ["/usr/bin/chromium", "/usr/bin/google-chrome-stable"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        } : nil

    /// The reason for which tests are skipped without it.
    static let absence: Comment =
        "no Chromium: Debian's packages are chromium and libnss3-tools; Ubuntu has it as a snap, which no test can drive"

    let process: RunningProcess
    private let home: TemporaryFolder

    /// Opens a page; `certificates` are those whose authority it trusts.
    init(_ url: String, trusting certificates: TestCertificates? = nil) throws {
        home = try TemporaryFolder()
        let program = try #require(Self.program)
        let options = [
            // The pages are our own, and containers have no user namespaces for a sandbox.
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-proxy-server",
            "--host-resolver-rules=MAP *.test 127.0.0.1",
            "--user-data-dir=\(home.path)/profile",
        ]
        if let certificates {
            try BrowserTrust.make(in: "\(home.path)/.pki/nssdb", trusting: certificates)
        }
        process = try RunningProcess(
            options + [url], of: program, in: home.path, environment: ["HOME": home.path])
    }

    deinit {
        // Asked to end it takes its children with it, and no longer writes to the folder.
        if (try? process.terminate()) == nil { process.stop() }
    }
}
