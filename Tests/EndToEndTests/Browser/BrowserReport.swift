/// A page's report of its fetches.
struct BrowserReport: Decodable {
    /// One body, by the browser's own account (W3C Resource Timing).
    struct Fetch: Decodable, CustomStringConvertible {
        let url: String
        /// The SHA-256 of the decoded body in hexadecimal.
        let sha256: String
        /// The Content-Encoding of the response.
        var coding: String
        /// The bytes of the body before decoding.
        let encodedBytes: Int
        /// The bytes of the body behind decoding.
        let decodedBytes: Int
        /// The bytes of head and body on the wire; 0 for responses from the browser's cache.
        let transferBytes: Int

        var description: String { "\(url) \(coding) \(encodedBytes)/\(decodedBytes)" }
    }

    var error: String?
    var fetches: [Fetch] = []
    /// True if this page or the next one sends another report.
    var more = false

    private enum CodingKeys: CodingKey { case error, fetches, more }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        error = try values.decodeIfPresent(String.self, forKey: .error)
        more = try values.decodeIfPresent(Bool.self, forKey: .more) ?? false
        fetches = try values.decodeIfPresent([Fetch].self, forKey: .fetches) ?? []
    }
}
