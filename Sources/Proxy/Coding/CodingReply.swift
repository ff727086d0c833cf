internal import Dictionaries
internal import HTTP

/// Carries a coded body back to the exchange that waits for it; safe from any thread.
struct CodingReply: Sendable {
    let loop: EventLoop
    let token: Token
    let decision: Decision

    /// Hands the result to the exchange if it still exists.
    func send(_ result: CodingJob.Result) {
        let (token, decision) = (token, decision)
        loop.execute { core in core.handler(token, as: Exchange.self)?.worked(decision, result) }
    }
}
