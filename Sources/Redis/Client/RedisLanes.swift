internal import Dispatch
internal import HTTP
internal import Primitives

/// The lanes of a client on one loop, whose core holds them.
final class RedisLanes: Handler, RedisLaneOwner {
    private static let requestSilence: Int64 = 1_000
    private static let backgroundSilence: Int64 = 5_000

    private let client: RedisClient
    private let core: EventLoop.Core
    private var lanes: [RedisLane] = []
    private var followers: [StreamFollower] = []
    private var hasAdvised = false

    init(_ urgencies: [RedisUrgency], client: RedisClient, core: EventLoop.Core) {
        self.client = client
        self.core = core
        lanes = urgencies.map { RedisLane(terms(of: $0), client: client, owner: self, core: core) }
        client.adaptDeadline()
    }

    private func terms(of urgency: RedisUrgency) -> RedisLane.Terms {
        switch urgency {
        case .request:
            RedisLane.Terms(
                urgency: urgency, probeTimeout: Int64(client.settings.timeout),
                silenceMax: Self.requestSilence)
        case .background:
            RedisLane.Terms(
                urgency: urgency, probeTimeout: RedisGate.backgroundDeadline,
                silenceMax: Self.backgroundSilence)
        }
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

    /// Ends the connections in use, which are made again.
    func leave(_ cause: String) {
        for lane in lanes where lane.isReady { lane.fail(cause) }
        for follower in followers { follower.leave(cause) }
    }

    /// Sends commands, or ends them at once while the lane is not ready; returns false if there is no lane for them.
    ///
    /// Another loop's lane may have opened the gate. Before the end of its greeting a connection has neither the user nor the
    /// database, and may be to a server that is refused.
    func submit(_ batch: RedisLane.Batch, _ urgency: RedisUrgency) -> Bool {
        guard let lane = lanes.first(where: { $0.terms.urgency == urgency }) else { return false }
        if lane.isReady {
            lane.submit(batch)
        } else {
            client.statistics.withLock { $0.count(.unavailable, batch.commands.count) }
            batch.ending(.failure(.unavailable))
        }
        return true
    }

    func laneChanged(_ lane: RedisLane) {
        setGate(of: lane)
        client.laneChanged(lane)
        if lane.isReady, lane.terms.urgency == .background { adviseOnce(lane) }
    }

    /// Reports once what the settings of the server mean.
    private func adviseOnce(_ lane: RedisLane) {
        guard client.advises, !hasAdvised else { return }
        hasAdvised = true
        let deadline = core.now + RedisGate.backgroundDeadline
        lane.submit(
            RedisLane.Batch(commands: [RedisCommand("INFO")], deadline: deadline) { [client] result in
                guard case .success(let replies) = result, let text = replies.first?.text else { return }
                client.reports.advise(RedisAdvice.findings(RedisInfo(text)))
            })
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        setGate(of: lane)
        client.laneFailed(lane, cause)
    }

    private func setGate(of lane: RedisLane) {
        let gate = client.gate(lane.terms.urgency)
        gate.note(ObjectIdentifier(lane), isReady: lane.isReady)
        guard lane.terms.urgency == .request else { return }
        client.statistics.withLock { $0.breaker = gate.isOpen ? .closed : lane.breaker.state }
    }
}
