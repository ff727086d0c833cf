internal import Foundation
internal import TestSupport
internal import Testing

/// A real Firefox without a window, on one page, with a profile of its own; ends with this object.
///
/// It speaks dictionaries only with a preference on, and by https.
final class Firefox: Browser {
    /// The path of the browser, or nil if it or `certutil` is not installed.
    static let program =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/firefox-esr") && BrowserTrust.isPossible
        ? "/usr/bin/firefox-esr" : nil

    /// The reason for which tests are skipped without it.
    static let absence: Comment = "no Firefox: Debian's packages are firefox-esr and libnss3-tools"

    let process: RunningProcess
    private let home: TemporaryFolder

    /// Opens a page; `certificates` are those whose authority it trusts.
    init(_ url: String, trusting certificates: TestCertificates) throws {
        home = try TemporaryFolder()
        let program = try #require(Self.program)
        let preferences = Self.preferences.map { "user_pref(\"\($0)\", \($1));\n" }.joined()
        try home.write(Array(preferences.utf8), to: "user.js")
        try BrowserTrust.make(in: home.path, trusting: certificates)
        process = try RunningProcess(
            ["--headless", "--no-remote", "--profile", home.path, url], of: program, in: home.path,
            environment: ["HOME": home.path, "MOZ_CRASHREPORTER_DISABLE": "1"])
    }

    deinit {
        // Firefox takes more than a minute to end on request. Its children end with it.
        process.stop()
        _ = try? process.result()
    }

    private static let preferences = [
        "network.http.dictionaries.enable": "true",
        // Disables the browser's own requests.
        "app.normandy.enabled": "false", "browser.aboutwelcome.enabled": "false",
        "browser.safebrowsing.provider.mozilla.updateURL": "\"\"",
        "browser.shell.checkDefaultBrowser": "false",
        "browser.startup.homepage_override.mstone": "\"ignore\"",
        "datareporting.policy.dataSubmissionEnabled": "false",
        "extensions.update.enabled": "false", "network.captive-portal-service.enabled": "false",
        "network.connectivity-service.enabled": "false", "network.trr.mode": "5",
        "services.settings.server": "\"https://localhost:1\"", "toolkit.telemetry.unified": "false",
    ]
}
