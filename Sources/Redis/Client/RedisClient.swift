package import Dispatch
package import HTTP
internal import Primitives
internal import Synchronization

/// A client of one Redis or Valkey server; safe from any thread.
///
/// Its connections live on an event loop of their own: one for commands that requests wait for, one for background
/// commands, and one per call of `follow`.
package final class RedisClient: Sendable {
    package typealias Ending = @Sendable (Result<[RESPValue], RedisFailure>) -> Void

    package let settings: RedisSettings
    let statistics = Guarded(RedisStatistics())
    let resolver = RedisResolver()
    let advises: Bool
    private let loop = EventLoop(label: "dictum.redis")
    private let gates = RedisUrgency.allCases.map { RedisGate($0) }
    private let reports: RedisReports
    private let token = Guarded(Token.none)

    /// Makes a client, which connects after `start`; its owner must call `stop`.
    ///
    /// - Parameter advises: True to report findings about the server once it is connected.
    package init(
        settings: RedisSettings, advises: Bool = true, report: @escaping @Sendable (RedisReport) -> Void
    ) {
        self.settings = settings
        self.advises = advises
        reports = RedisReports(server: settings.text, report: report)
    }

    /// Begins to connect.
    package func start() {
        loop.execute { [self] core in
            let lanes = RedisLanes(client: self, core: core)
            token.withLock { $0 = core.add(lanes) }
            lanes.start()
        }
    }

    /// Ends all connections; commands without a reply end with `lost`.
    ///
    /// Blocks for a moment. Commands that are sent at the same time may stay without an end.
    package func stop() {
        for gate in gates { gate.isOpen = false }
        loop.execute { [self] core in core.handler(token.withLock { $0 }, as: RedisLanes.self)?.close() }
        loop.stop()
        loop.join()
    }

    /// True while commands of requests are accepted: their circuit breaker is closed.
    package var isAvailable: Bool { gates[RedisUrgency.request.rawValue].isOpen }

    /// True while background commands are accepted.
    package var isBackgroundAvailable: Bool { gates[RedisUrgency.background.rawValue].isOpen }

    /// The counts so far.
    package var counts: RedisStatistics { statistics.withLock { $0 } }

    /// Sends commands in one piece, and calls `onEnd` once, on the client's own loop, with as many replies.
    ///
    /// Fails at once, without calling `onEnd`, while the breaker is open or too much waits. Error replies are values
    /// among the replies. `onEnd` must be short.
    ///
    /// - Parameter deadline: The milliseconds to wait; nil for the deadline of the urgency.
    package func send(
        _ commands: [RedisCommand], _ urgency: RedisUrgency, deadline: Int64? = nil,
        onEnd: @escaping Ending
    ) throws(RedisFailure) {
        let gate = gates[urgency.rawValue]
        let cost = RedisGate.Cost(
            commands: commands.count, bytes: commands.reduce(0) { $0 + $1.bytes.count })
        do throws(RedisFailure) {
            try gate.enter(cost)
        } catch {
            statistics.withLock { $0.count(error, cost.commands) }
            throw error
        }
        let now = SystemClock.monotonicNanoseconds / 1_000_000
        let limit = now + (deadline ?? gate.deadline.load(ordering: .relaxed))
        loop.execute { [self] core in
            let batch = RedisLane.Batch(commands: commands, deadline: limit) { result in
                gate.leave(cost)
                onEnd(result)
            }
            guard let lanes = core.handler(token.withLock { $0 }, as: RedisLanes.self) else {
                return batch.ending(.failure(.lost))
            }
            lanes.submit(batch, urgency)
        }
    }

    /// The same, with `onEnd` on the caller's loop.
    package func send(
        _ commands: [RedisCommand], _ urgency: RedisUrgency, deadline: Int64? = nil, on loop: EventLoop,
        onEnd: @escaping @Sendable (EventLoop.Core, Result<[RESPValue], RedisFailure>) -> Void
    ) throws(RedisFailure) {
        try send(commands, urgency, deadline: deadline) { result in
            loop.execute { core in onEnd(core, result) }
        }
    }

    /// Passes on the entries of streams, from the first one that they have, for as long as the client runs.
    ///
    /// Called after `start`. `onEvent` is called on the queue, in order; nothing more is read until it has returned.
    package func follow(
        _ streams: [[UInt8]], on queue: DispatchQueue,
        onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {
        loop.execute { [self] core in
            core.handler(token.withLock { $0 }, as: RedisLanes.self)?.follow(streams, on: queue, onEvent)
        }
    }

    /// Has a follower go on once its queue has taken all events.
    func goOn(_ place: Int, round: Int) {
        loop.execute { [self] core in
            core.handler(token.withLock { $0 }, as: RedisLanes.self)?.goOn(place, round: round)
        }
    }

    // MARK: The lanes' events

    func laneChanged(_ lane: RedisLane) {
        if lane.isReady { reports.available(lane.terms.name, lane.facts) }
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        if reports.unavailable(lane.terms.name, cause) { statistics.withLock { $0.outages += 1 } }
    }

    func note(_ error: RedisErrorReply) { reports.note(error) }

    func advise(_ findings: [RedisAdvice.Finding]) { reports.advise(findings) }

    func gate(_ urgency: RedisUrgency) -> RedisGate { gates[urgency.rawValue] }
}

/// The lanes of a client on its loop, whose core holds them.
final class RedisLanes: Handler, RedisLaneOwner {
    private static let requestSilence: Int64 = 1_000
    private static let backgroundSilence: Int64 = 5_000

    private let client: RedisClient
    private let core: EventLoop.Core
    private var lanes: [RedisLane] = []
    private var followers: [StreamFollower] = []
    private var quantile = LatencyQuantile()
    private var hasAdvised = false

    init(client: RedisClient, core: EventLoop.Core) {
        self.client = client
        self.core = core
        let terms = [
            RedisLane.Terms(
                name: "requests", probeTimeout: Int64(client.settings.timeout),
                silenceMax: Self.requestSilence),
            RedisLane.Terms(
                name: "background", probeTimeout: RedisGate.backgroundDeadline,
                silenceMax: Self.backgroundSilence),
        ]
        lanes = terms.map { RedisLane($0, client: client, owner: self, core: core) }
        adoptDeadline()
    }

    func start() { lanes.forEach { $0.start() } }

    func follow(
        _ streams: [[UInt8]], on queue: DispatchQueue,
        _ onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {
        let receiver = StreamFollower.Receiver(place: followers.count, queue: queue, onEvent: onEvent)
        let follower = StreamFollower(streams, client: client, core: core, receiver)
        followers.append(follower)
        follower.start()
    }

    func goOn(_ place: Int, round: Int) {
        if followers.indices.contains(place) { followers[place].goOn(round: round) }
    }

    func close() {
        for follower in followers { follower.close() }
        for lane in lanes { lane.close() }
        (followers, lanes) = ([], [])
    }

    func submit(_ batch: RedisLane.Batch, _ urgency: RedisUrgency) {
        guard urgency.rawValue < lanes.count else { return batch.ending(.failure(.lost)) }
        lanes[urgency.rawValue].submit(batch)
    }

    func laneChanged(_ lane: RedisLane) {
        setGate(of: lane)
        client.laneChanged(lane)
        if lane.isReady, lane === lanes.last { adviseOnce(lane) }
    }

    /// Reports once what the settings of the server mean.
    private func adviseOnce(_ lane: RedisLane) {
        guard client.advises, !hasAdvised else { return }
        hasAdvised = true
        let deadline = core.now + RedisGate.backgroundDeadline
        lane.submit(
            RedisLane.Batch(commands: [RedisCommand("INFO")], deadline: deadline) { [client] result in
                guard case .success(let replies) = result, let text = replies.first?.text else { return }
                client.advise(RedisAdvice.findings(RedisInfo(text)))
            })
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        setGate(of: lane)
        client.laneFailed(lane, cause)
    }

    private func setGate(of lane: RedisLane) {
        guard let index = lanes.firstIndex(where: { $0 === lane }),
            let urgency = RedisUrgency(rawValue: index)
        else { return }
        client.gate(urgency).isOpen = lane.isReady
        if urgency == .request { client.statistics.withLock { $0.breaker = lane.breaker.state } }
    }

    func laneHeard(_ lane: RedisLane, microseconds: Int, isInTime: Bool) {
        guard lane === lanes.first else { return }
        quantile.add(microseconds: microseconds)
        client.statistics.withLock { $0.latency.add(microseconds: microseconds) }
        adoptDeadline()
    }

    private func adoptDeadline() {
        let deadline = quantile.deadline(longest: client.settings.timeout)
        client.gate(.request).deadline.store(deadline, ordering: .relaxed)
        client.statistics.withLock { $0.deadline = Int(deadline) }
    }
}
