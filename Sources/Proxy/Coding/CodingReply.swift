internal import Dictionaries

/// Carries a coded body back to the exchange that waits for it; safe from any thread.
struct CodingReply: Sendable {
    let exchange: ExchangeReference
    let decision: Decision

    /// Hands the result to the exchange if it still exists.
    func send(_ result: CodingJob.Result) {
        let decision = decision
        exchange.perform { $0.coded(decision, result) }
    }
}
