internal import Dictionaries
internal import HTTP
internal import Synchronization

/// One address of one upstream, and how it fares; shared by all loops, kept over reloads.
///
/// While all is well a request pays one relaxed load for it.
final class UpstreamServer: Sendable {
    /// Where it is.
    let target: UpstreamTarget
    /// The URL as it was configured.
    let url: String
    /// The upstream as logs have it.
    let text: String
    /// The same as `text`, for the access log.
    let logText: [UInt8]
    private let health = Guarded(EndpointHealth())
    /// What `health` says in short: 0 where nothing is held against it, 1 after failures, 2 where it is out.
    private let summary = Atomic<Int>(0)
    private let active = Atomic<Int>(0)
    /// When an operator is told of a failed request.
    let failureReminder = Reminder()

    init(_ target: UpstreamTarget, url: String) {
        self.target = target
        self.url = url
        let address = target.endpoint.text
        text = url.hasSuffix(address) ? url : "\(url) (\(address))"
        logText = Array(text.utf8)
    }

    // MARK: Load

    /// Requests under way there, of all loops; counted only where somebody balances by it.
    var activeCount: Int { active.load(ordering: .relaxed) }

    /// A request goes there.
    func enter() { active.wrappingAdd(1, ordering: .relaxed) }

    /// A request that went there is over.
    func leave() { active.wrappingSubtract(1, ordering: .relaxed) }

    // MARK: Health

    /// Whether requests go there as they come.
    var isHealthy: Bool { summary.load(ordering: .relaxed) != 2 }
    /// Whether the checks have it out.
    var isCheckedOut: Bool { health.withLock { $0.isCheckedOut } }

    /// Whether it may be chosen now.
    func standing(now: Int64) -> EndpointHealth.Standing {
        isHealthy ? .up : health.withLock { $0.standing(now: now) }
    }

    /// Takes the trial that is due; one of the loops gets it.
    func beginTrial(now: Int64) -> Bool {
        health.withLock { $0.beginTrial(now: now) }
    }

    /// An answer has begun there.
    func succeeded() -> EndpointHealth.Change? {
        guard summary.load(ordering: .relaxed) != 0 else { return nil }
        return change { $0.succeeded() }
    }

    /// A request has failed there before its answer began.
    func failed(now: Int64, _ policy: EndpointHealth.Policy) -> EndpointHealth.Change? {
        change { $0.failed(now: now, policy) }
    }

    /// A check has come back.
    func checked(isGood: Bool) -> EndpointHealth.Change? {
        change { $0.checked(isGood: isGood) }
    }

    /// There are no checks any more.
    func forgetChecks() {
        change { $0.forgetChecks() }
    }

    private func change<Result: Sendable>(_ body: (inout EndpointHealth) -> Result) -> Result {
        health.withLock { health in
            let result = body(&health)
            // Under the lock: the summary must not fall behind what another thread has found since.
            summary.store(health.isOut ? 2 : health.isSpotless ? 0 : 1, ordering: .relaxed)
            return result
        }
    }
}
