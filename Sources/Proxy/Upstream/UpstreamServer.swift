internal import HTTP
internal import Primitives
internal import Storage
internal import Synchronization

/// One upstream address and its health, shared by all loops and kept over reloads.
///
/// A request to a healthy address costs one relaxed load.
final class UpstreamServer: Sendable {
    let target: UpstreamTarget
    let url: String
    /// The name of its upstream; empty without one.
    let name: String
    /// The upstream as logs name it.
    let text: String
    let logged: LoggedUpstream
    private let health = Guarded(EndpointHealth())
    /// A summary of `health`: 0 without failures, 1 after failures, 2 while skipped.
    private let summary = Atomic<Int>(0)
    private let active = Atomic<Int>(0)
    /// Limits warnings about failed requests.
    let failureReminder = Reminder()

    init(_ target: UpstreamTarget, url: String, of name: String = "") {
        self.target = target
        self.url = url
        self.name = name
        let address = target.endpoint.text
        let place = url.hasSuffix(address) ? url : "\(url) (\(address))"
        text = name.isEmpty ? place : "\(name) at \(place)"
        logged = LoggedUpstream(place, of: name)
    }

    // MARK: Load

    /// The requests in progress, of all loops; counted only if the balancer needs it.
    var activeCount: Int { active.load(ordering: .relaxed) }

    func enter() { active.wrappingAdd(1, ordering: .relaxed) }

    func leave() { active.wrappingSubtract(1, ordering: .relaxed) }

    // MARK: Health

    /// True while the address gets requests.
    var isHealthy: Bool { summary.load(ordering: .relaxed) != 2 }
    var isCheckedOut: Bool { health.withLock { $0.isCheckedOut } }

    func standing(now: Int64) -> EndpointHealth.Standing {
        isHealthy ? .up : health.withLock { $0.standing(now: now) }
    }

    /// Starts the trial that is due; only one loop gets it.
    func beginTrial(now: Int64) -> Bool {
        health.withLock { $0.beginTrial(now: now) }
    }

    func succeeded() -> EndpointHealth.Change? {
        guard summary.load(ordering: .relaxed) != 0 else { return nil }
        return change { $0.succeeded() }
    }

    /// Changes the health, by what a request or a check has shown.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout EndpointHealth) -> Result) -> Result {
        health.withLock { health in
            let result = body(&health)
            // Store it under the lock, or a slower thread would overwrite a newer summary.
            summary.store(health.isOut ? 2 : health.isSpotless ? 0 : 1, ordering: .relaxed)
            return result
        }
    }
}

/// Limits how often a message is logged: at once the first time, then once in a period.
final class Reminder: Sendable {
    private let milliseconds: Int64
    /// The time from which the message may be logged again.
    private let next = Atomic<Int64>(.min)

    init(milliseconds: Int64 = 60_000) { self.milliseconds = milliseconds }

    /// Returns true, and starts the next period, if the message is due.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    func take(now: Int64) -> Bool {
        let due = next.load(ordering: .relaxed)
        guard now >= due else { return false }
        let later = now + milliseconds
        return next.compareExchange(expected: due, desired: later, ordering: .relaxed).exchanged
    }
}

extension OperatorEvent {
    static func change(
        _ change: EndpointHealth.Change, of server: UpstreamServer, isOnlyOne: Bool = false,
        because error: UpstreamError? = nil
    ) -> OperatorEvent {
        let (requests, checks) = ("requests to \(server.text)", "health checks of \(server.text)")
        switch change {
        case .ejected(let milliseconds, let failures):
            let why = error.map { " (\($0.logText))" } ?? ""
            let time = Quantity.duration.text(of: Int(milliseconds))
            let what = isOnlyOne ? "there is no other upstream" : "others are preferred for \(time)"
            return .about(
                requests,
                .warning("upstream \(server.text) failed \(failures) times in a row\(why): \(what)"))
        case .readmitted: return .about(requests, .info("upstream \(server.text) answers again"))
        case .checkedOut:
            let what = isOnlyOne ? "there is no other upstream" : "others are preferred"
            return .about(checks, .warning("upstream \(server.text) does not pass its health check: \(what)"))
        case .checkedIn: return .about(checks, .info("upstream \(server.text) passes its health check"))
        }
    }

    /// Describes a failed request; logged at most once a minute.
    static func failure(_ error: UpstreamError, of server: UpstreamServer, status: Status) -> OperatorEvent {
        .warning(
            """
            upstream \(server.text): \(error.logText): a client got \(status.rawValue). The access log has each such \
            request; this warning comes at most once a minute
            """)
    }
}

extension UpstreamError {
    var logText: String {
        switch self {
        case .connectFailed(let error): error.text.lowercased()
        case .handshakeFailed(let failure): "no TLS: \(failure.text)"
        case .connectTimeout: "no connection within upstream.connect_timeout"
        case .headTimeout: "no response within upstream.response_timeout"
        case .malformed(.headTooLarge): "a response head of more than limits.response_head"
        case .malformed(let error): "malformed response: \(error.text)"
        case .http2: "malformed response over HTTP/2"
        case .stale, .closedBeforeHead: "closed the connection before a response"
        case .truncated: "closed the connection before the end of the response"
        case .idleTimeout: "silent for upstream.idle_timeout"
        }
    }
}
