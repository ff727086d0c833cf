internal import Proxy

/// What a running proxy has measured, and what its store says of first responses.
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
