/// What a fetch brought: the body, decoded and verified, and what it cost.
struct Fetched: Sendable {
    let body: [UInt8]
    var report: FetchReport
    /// What did not keep the fetch from being done, one line each.
    var warnings: [String]
}
