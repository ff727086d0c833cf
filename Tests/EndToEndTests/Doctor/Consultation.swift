internal import Foundation
internal import Testing

/// The output of `dictum doctor --json`.
struct Consultation: Decodable {
    struct Finding: Decodable {
        let finding: String
        let level: String
        let text: String
    }

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
    /// The fetches of a real browser, if one was used.
    let browser: [BrowserFetch]
    private(set) var status: Int32 = -1

    private enum CodingKeys: CodingKey { case url, works, findings, browser }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        url = try values.decode(String.self, forKey: .url)
        works = try values.decode(Bool.self, forKey: .works)
        findings = try values.decode([Finding].self, forKey: .findings)
        browser = try values.decodeIfPresent([BrowserFetch].self, forKey: .browser) ?? []
    }

    /// The names of the findings in their order.
    var names: [String] { findings.map(\.finding) }

    /// Runs the doctor.
    static func of(_ url: String, _ arguments: String...) throws -> Consultation {
        try of(url, arguments)
    }

    /// Runs the doctor.
    static func of(_ url: String, _ arguments: [String]) throws -> Consultation {
        let result = try RunningProcess.run(["doctor", url, "--json"] + arguments)
        var report = try JSONDecoder().decode(Consultation.self, from: Data(result.output))
        report.status = result.status
        return report
    }

    /// Expects a problem among the findings, and the verdict that dictionaries will not work.
    func expect(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = findings.contains { $0.finding == name && $0.level == "problem" }
        #expect(found && !works && status == 1, "\(names)", sourceLocation: sourceLocation)
    }
}
