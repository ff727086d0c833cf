internal import Dictionaries
internal import HTTP

/// The way back to the exchange that waits for a coded body; any thread may take it.
struct CodingReply: Sendable {
    let loop: EventLoop
    let token: Token
    let decision: Decision

    /// Hands the result to the exchange, if it is still there.
    func send(_ result: CodingJob.Result) {
        let (token, decision) = (token, decision)
        loop.execute { core in core.handler(token, as: Exchange.self)?.worked(decision, result) }
    }
}
