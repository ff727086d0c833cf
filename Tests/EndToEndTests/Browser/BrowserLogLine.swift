/// A line of the access log.
struct BrowserLogLine: Decodable {
    let target: String
    let httpVersion: String
    let status: Int
    /// The coding of the body that was sent.
    let coding: String
    /// The bytes of that body.
    let sentBodyBytes: Int

    private enum CodingKeys: String, CodingKey {
        case target, status, coding
        case httpVersion = "protocol"
        case sentBodyBytes = "sent_body_bytes"
    }
}
