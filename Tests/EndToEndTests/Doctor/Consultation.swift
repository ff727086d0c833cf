internal import Foundation
internal import Testing

/// What `dictum doctor --json` says.
struct Consultation: Decodable {
    /// One finding.
    struct Finding: Decodable {
        let finding: String
        let level: String
        let text: String
    }

    /// One fetch of a real browser.
    struct BrowserFetch: Decodable {
        let number: Int
        let status: Int
        let advertised: Bool
        let coding: String
        let wire_bytes: Int
        let body_bytes: Int
    }

    let url: String
    let works: Bool
    let findings: [Finding]
    /// The fetches of a real browser, where one was asked.
    let browser: [BrowserFetch]
    /// The exit code.
    private(set) var status: Int32 = -1

    private enum CodingKeys: CodingKey { case url, works, findings, browser }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        url = try values.decode(String.self, forKey: .url)
        works = try values.decode(Bool.self, forKey: .works)
        findings = try values.decode([Finding].self, forKey: .findings)
        browser = try values.decodeIfPresent([BrowserFetch].self, forKey: .browser) ?? []
    }

    /// The names of the findings, in their order.
    var names: [String] { findings.map(\.finding) }

    /// Asks the doctor.
    static func of(_ url: String, _ arguments: String...) throws -> Consultation {
        try of(url, arguments)
    }

    /// Asks the doctor.
    static func of(_ url: String, _ arguments: [String]) throws -> Consultation {
        let result = try RunningProcess.run(["doctor", url, "--json"] + arguments)
        var report = try JSONDecoder().decode(Consultation.self, from: Data(result.output))
        report.status = result.status
        return report
    }

    /// Expects that a problem is among the findings, and that dictionaries will not work.
    func expect(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = findings.contains { $0.finding == name && $0.level == "problem" }
        #expect(found && !works && status == 1, "\(names)", sourceLocation: sourceLocation)
    }
}
