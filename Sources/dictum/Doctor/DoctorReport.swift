/// The doctor's findings and verdict, for people and as JSON.
struct DoctorReport: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
        let finding: String
        let level: String
        let text: String
    }

    let url: String
    /// True if browsers will use dictionaries there.
    let works: Bool
    let findings: [Entry]
    /// The results of a real browser; absent if none was used.
    let browser: [DoctorBrowser.Fetch]?

    init(_ diagnosis: Diagnosis, of url: FetchURL, browser: [DoctorBrowser.Fetch]? = nil) {
        self.url = url.text
        self.browser = browser
        works = diagnosis.works
        findings = diagnosis.findings.map {
            Entry(finding: $0.name, level: $0.level.rawValue, text: OutputFormat.plain($0.text))
        }
    }

    /// One line per finding, then the verdict.
    var lines: [String] {
        let verdict = works ? "dictionaries will work" : "dictionaries will not work"
        return findings.map { "\($0.level): \($0.text)" } + browserLines
            + ["\(OutputFormat.plain(url)): \(verdict)"]
    }

    /// One row per fetch of the browser.
    private var browserLines: [String] {
        guard let browser else { return [] }
        let rows =
            [["fetch", "status", "advertised", "coding", "on the wire", "body"]]
            + browser.map { fetch in
                [
                    String(fetch.number), String(fetch.status), fetch.advertised ? "yes" : "no",
                    fetch.error.map(OutputFormat.plain) ?? OutputFormat.plain(fetch.coding),
                    OutputFormat.grouped(fetch.wireBytes), OutputFormat.grouped(fetch.bodyBytes),
                ]
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }.joined(separator: "  ")
        }
    }
}
