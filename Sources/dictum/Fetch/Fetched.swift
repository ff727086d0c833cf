/// The result of a fetch: the decoded body and its cost.
struct Fetched: Sendable {
    let body: [UInt8]
    var report: FetchReport
    /// Problems that did not stop the fetch, one line each.
    var warnings: [String]
}
