internal import Primitives

package enum RedisReport: Sendable, Equatable {
    /// The server can be used, so that `unavailable` is over.
    case info(String)
    case warning(String)
    case unavailable(String)
}

/// The messages of a client: one when its server fails, one when it is back, one a minute for another cause and for each kind
/// of error reply.
///
/// Safe from any thread.
final class RedisReports: Sendable {
    private struct State {
        /// The cause of each lane that has no connection.
        var failing: [ObjectIdentifier: String] = [:]
        var wasAvailable = false
        /// The cause that was reported last; nil while the server is available.
        var reported: String?
        var reportedAt: Int64 = 0
        var failingSince: Int64 = 0
        var advised: [String: Int64] = [:]
    }

    private static let adviceMilliseconds: Int64 = 60_000

    private let server: String
    private let report: @Sendable (RedisReport) -> Void
    private let state = Guarded(State())

    init(server: String, report: @escaping @Sendable (RedisReport) -> Void) {
        self.server = server
        self.report = report
    }

    private static var now: Int64 { SystemClock.monotonicNanoseconds / 1_000_000 }

    func available(_ lane: ObjectIdentifier, _ facts: RedisServerFacts) {
        let text: String? = state.withLock { state in
            state.failing[lane] = nil
            guard state.failing.isEmpty, state.reported != nil || !state.wasAvailable else { return nil }
            let seconds = (Self.now - state.failingSince) / 1000
            let name = facts.server.isEmpty ? "" : ", \(facts.server) \(facts.version)"
            let isFirst = !state.wasAvailable && state.reported == nil
            state.wasAvailable = true
            state.reported = nil
            return isFirst
                ? "shared store \(server): connected\(name)"
                : "shared store \(server): available again after \(seconds) s\(name)"
        }
        if let text { report(.info(text)) }
    }

    /// Notes that a lane cannot be used; returns true if the server counted as available until now.
    func unavailable(_ lane: ObjectIdentifier, _ cause: String) -> Bool {
        let (text, isChange): (String?, Bool) = state.withLock { state in
            let isChange = state.reported == nil
            state.failing[lane] = cause
            // Two addresses may fail in two ways, by turns.
            let now = Self.now
            guard isChange || state.reported != cause && now - state.reportedAt >= Self.adviceMilliseconds
            else {
                return (nil, false)
            }
            if isChange { state.failingSince = now }
            (state.reported, state.reportedAt) = (cause, now)
            return (
                """
                shared store \(server): not available: \(cause). Requests do not wait for it; versions of other nodes \
                give no deltas until it is back
                """, isChange
            )
        }
        if let text { report(.unavailable(text)) }
        return isChange
    }

    func advise(_ findings: [RedisAdvice.Finding]) {
        for finding in findings { report(.warning("shared store \(server): \(finding.text)")) }
    }

    /// Reports an error reply, at most once a minute for its code.
    func note(_ error: RedisErrorReply) {
        let text = error.advice ?? "it replies \(error.code) \(error.message)"
        let isDue = state.withLock { state in
            let code = error.advice == nil ? "" : error.code
            if let last = state.advised[code], Self.now - last < Self.adviceMilliseconds { return false }
            state.advised[code] = Self.now
            return true
        }
        if isDue {
            report(.warning("shared store \(server): \(text). This message comes at most once a minute"))
        }
    }
}
