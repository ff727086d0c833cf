internal import Proxy

/// The report of a running proxy, with the first responses that its store tells of.
struct RunningReport: Encodable {
    private enum CodingKeys: CodingKey { case firstResponses }

    let savings: SavingsReport
    let firstResponses: [EstimateReport.FirstResponses]

    /// The keys of the proxy's report, and one more.
    func encode(to encoder: any Encoder) throws {
        try savings.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(firstResponses, forKey: .firstResponses)
    }
}
