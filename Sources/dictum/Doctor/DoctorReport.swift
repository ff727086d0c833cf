/// What the doctor says, for people and as JSON.
struct DoctorReport: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
        let finding: String
        let level: String
        let text: String
    }

    let url: String
    /// Whether browsers will use dictionaries there.
    let works: Bool
    let findings: [Entry]

    init(_ diagnosis: Diagnosis, of url: FetchURL) {
        self.url = url.text
        works = diagnosis.works
        findings = diagnosis.findings.map {
            Entry(finding: $0.name, level: $0.level.rawValue, text: StoreText.plain($0.text))
        }
    }

    /// A line a finding, and the verdict at the end.
    var lines: [String] {
        let verdict = works ? "dictionaries will work" : "dictionaries will not work"
        return findings.map { "\($0.level): \($0.text)" } + ["\(StoreText.plain(url)): \(verdict)"]
    }
}
