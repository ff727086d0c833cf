/// The doctor's findings and verdict, for people and as JSON.
struct DoctorReport: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
        let finding: String
        let level: String
        let text: String

        init(_ name: String, _ level: DoctorFinding.Level, _ text: String) {
            (finding, self.level, self.text) = (name, level.rawValue, OutputFormat.plain(text))
        }

        init(_ finding: DoctorFinding) { self.init(finding.name, finding.level, finding.text) }
    }

    private enum CodingKeys: CodingKey { case url, works, findings, browser }

    let url: String
    /// True if dictionaries will work there: with browsers, or for several proxies that share them.
    let works: Bool
    private let verdict: String
    let findings: [Entry]
    /// The results of a real browser; absent if none was used.
    let browser: [DoctorBrowser.Fetch]?

    init(_ diagnosis: Diagnosis, of url: FetchURL, browser: [DoctorBrowser.Fetch]? = nil) {
        self.url = url.text
        self.browser = browser
        works = diagnosis.works
        verdict = works ? "dictionaries will work" : "dictionaries will not work"
        findings = diagnosis.findings.map(Entry.init)
    }

    init(sharedStore url: String, works: Bool, _ findings: [Entry]) {
        (self.url, self.works, self.findings, browser) = (url, works, findings, nil)
        verdict = works ? "proxies can share dictionaries there" : "proxies cannot share dictionaries there"
    }

    var hasWarnings: Bool { findings.contains { $0.level == DoctorFinding.Level.warning.rawValue } }

    /// One line per finding, the table of the browser's fetches, then the verdict.
    var lines: [String] {
        findings.map { "\($0.level): \($0.text)" } + [browserTable].compactMap(\.self)
            + ["\(OutputFormat.plain(url)): \(verdict)"]
    }

    /// One row per fetch of the browser.
    private var browserTable: String? {
        guard let browser else { return nil }
        let rows = browser.map { fetch in
            [
                String(fetch.number), String(fetch.status), fetch.advertised ? "yes" : "no",
                fetch.error ?? fetch.coding,
                OutputFormat.grouped(fetch.wireBytes), OutputFormat.grouped(fetch.bodyBytes),
            ]
        }
        let titles = ["fetch", "status", "advertised", "coding", "on the wire", "body"]
        return OutputFormat.table([titles] + rows, alignsRight: true)
    }
}
