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

    let url: String
    let works: Bool
    let findings: [Finding]
    /// The exit code.
    private(set) var status: Int32 = -1

    private enum CodingKeys: CodingKey { case url, works, findings }

    /// The names of the findings, in their order.
    var names: [String] { findings.map(\.finding) }

    /// Asks the doctor.
    static func of(_ url: String, _ arguments: String...) throws -> Consultation {
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
