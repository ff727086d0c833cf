package import Dispatch
package import HTTP
internal import Primitives
internal import Synchronization

/// A client of one Redis or Valkey server; safe from any thread.
///
/// Commands that requests wait for have a connection on each loop that `start` is told, so that neither they nor their
/// replies change threads. An event loop of the client's own has the others: one connection for background commands, and one
/// per call of `follow`.
package final class RedisClient: RedisLaneOwner, Sendable {
    package typealias Ending = @Sendable (Result<[RESPValue], RedisFailure>) -> Void

    package let settings: RedisSettings
    let statistics = Guarded(RedisStatistics())
    let resolver = RedisResolver()
    private let advises: Bool
    private let hasAdvised = Atomic<Bool>(false)
    private let loop = EventLoop(label: "dictum.redis")
    private let gates: [RedisGate]
    let reports: RedisReports
    /// The lanes of all loops; those of followers have no urgency.
    private let places = Guarded<[Place]>([])
    private let quantile = Guarded(LatencyQuantile())

    private struct Place: Sendable {
        let loop: EventLoop
        let urgency: RedisUrgency?
        let token: Token
    }

    private static let requestSilence: Int64 = 1_000
    private static let backgroundSilence: Int64 = 5_000

    /// Makes a client, which connects after `start`; its owner must call `stop`.
    ///
    /// - Parameters:
    ///   - advises: True to report findings about the server once it is connected.
    ///   - backgroundBytesMax: The bound on the bytes of background commands that wait.
    package init(
        settings: RedisSettings, advises: Bool = true, backgroundBytesMax: Int = 64 << 20,
        report: @escaping @Sendable (RedisReport) -> Void
    ) {
        self.settings = settings
        gates = RedisUrgency.allCases.map { RedisGate($0, bytesMax: backgroundBytesMax) }
        self.advises = advises
        reports = RedisReports(server: settings.text, report: report)
    }

    /// Begins to connect.
    ///
    /// - Parameter loops: The loops of those who send commands of requests; without any, the client's own one serves them.
    package func start(requestsOn loops: [EventLoop] = []) {
        addLanes(loops.isEmpty ? RedisUrgency.allCases : [.background], on: loop)
        for loop in loops { addLanes([.request], on: loop) }
    }

    private func addLanes(_ urgencies: [RedisUrgency], on loop: EventLoop) {
        loop.execute { [self] core in
            adaptDeadline()
            for urgency in urgencies {
                let lane = RedisLane(terms(of: urgency), client: self, owner: self, core: core)
                places.withLock { $0.append(Place(loop: loop, urgency: urgency, token: lane.token)) }
                lane.start()
            }
        }
    }

    private func terms(of urgency: RedisUrgency) -> RedisLane.Terms {
        switch urgency {
        case .request:
            RedisLane.Terms(
                urgency: urgency, probeTimeout: Int64(settings.timeout), silenceMax: Self.requestSilence)
        case .background:
            RedisLane.Terms(
                urgency: urgency, probeTimeout: RedisGate.backgroundDeadline,
                silenceMax: Self.backgroundSilence)
        }
    }

    /// Does something with every lane on its loop, those of followers included.
    private func onEachLane(_ work: @escaping @Sendable (RedisLane) -> Void) {
        for place in places.withLock({ $0 }) {
            place.loop.execute { core in
                if let lane = core.handler(place.token, as: RedisLane.self) { work(lane) }
            }
        }
    }

    /// Ends all connections; commands without a reply end with `lost`.
    ///
    /// Blocks for a moment. Commands that are sent at the same time may stay without an end.
    package func stop() {
        for gate in gates { gate.close() }
        onEachLane { $0.close() }
        loop.stop()
        loop.join()
    }

    /// True while commands of requests are accepted: their circuit breaker is closed.
    package var isAvailable: Bool { gates[RedisUrgency.request.rawValue].isOpen }

    /// True while background commands are accepted.
    package var isBackgroundAvailable: Bool { gates[RedisUrgency.background.rawValue].isOpen }

    package var counts: RedisStatistics { statistics.withLock { $0 } }

    /// Sends commands in one piece, and calls `onEnd` once with as many replies.
    ///
    /// Fails at once, without calling `onEnd`, while the breaker is open or too much waits; if only the connection of this loop
    /// is not ready, `onEnd` gets `unavailable`. Error replies are values among the replies. `onEnd` must be short. It is
    /// called on the loop of `core` if that has a connection, else on the client's own loop.
    ///
    /// - Parameters:
    ///   - deadline: The milliseconds to wait; nil for the deadline of the urgency.
    ///   - core: The caller's loop, if it has one.
    package func send(
        _ commands: [RedisCommand], _ urgency: RedisUrgency, deadline: Int64? = nil,
        on core: EventLoop.Core? = nil, onEnd: @escaping Ending
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
        let ending: Ending = { result in
            gate.leave(cost)
            onEnd(result)
        }
        let pass: @Sendable (EventLoop.Core) -> Bool = { [self] core in
            submit(RedisLane.Batch(commands: commands, deadline: limit, ending: ending), urgency, core)
        }
        if let core, pass(core) { return }
        loop.execute { core in if !pass(core) { ending(.failure(.unavailable)) } }
    }

    /// Sends commands, or ends them at once while the lane is not ready; returns false if the loop has no lane for them.
    ///
    /// Another loop's lane may have opened the gate. Before the end of its greeting a connection has neither the user nor the
    /// database, and may be to a server that is refused.
    private func submit(_ batch: RedisLane.Batch, _ urgency: RedisUrgency, _ core: EventLoop.Core) -> Bool {
        let place = places.withLock { $0.first { $0.loop === core.loop && $0.urgency == urgency } }
        guard let place, let lane = core.handler(place.token, as: RedisLane.self) else { return false }
        if lane.isReady {
            lane.submit(batch)
        } else {
            statistics.withLock { $0.count(.unavailable, batch.commands.count) }
            batch.ending(.failure(.unavailable))
        }
        return true
    }

    /// Passes on the entries of streams, from the first one that they have, for as long as the client runs.
    ///
    /// Called after `start`. `onEvent` is called on the queue, in order; nothing more is read until it has returned.
    package func follow(
        _ streams: [[UInt8]], on queue: DispatchQueue,
        onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {
        loop.execute { [self] core in
            let follower = StreamFollower(streams, client: self, core: core, on: queue, onEvent)
            places.withLock { $0.append(Place(loop: loop, urgency: nil, token: follower.lane.token)) }
            follower.lane.start()
        }
    }

    // MARK: The lanes' events

    func laneChanged(_ lane: RedisLane) {
        setGate(of: lane)
        guard lane.isReady else { return }
        reports.available(ObjectIdentifier(lane), lane.facts)
        if lane.terms.urgency == .background { adviseOnce(lane) }
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        setGate(of: lane)
        noteFailure(of: lane, cause)
    }

    private func setGate(of lane: RedisLane) {
        let gate = gate(lane.terms.urgency)
        gate.note(ObjectIdentifier(lane), isReady: lane.isReady)
        guard lane.terms.urgency == .request else { return }
        statistics.withLock { $0.breaker = gate.isOpen ? .closed : lane.breaker.state }
    }

    /// Reports once what the settings of the server mean.
    private func adviseOnce(_ lane: RedisLane) {
        guard advises, !hasAdvised.exchange(true, ordering: .relaxed) else { return }
        let deadline = lane.core.now + RedisGate.backgroundDeadline
        lane.submit(
            RedisLane.Batch(commands: [RedisCommand("INFO")], deadline: deadline) { [reports] result in
                guard case .success(let replies) = result, let text = replies.first?.text else { return }
                reports.advise(RedisAdvice.findings(RedisInfo(text)))
            })
    }

    /// Reports that a lane, or that of a follower, has failed.
    func noteFailure(of lane: RedisLane, _ cause: String) {
        guard reports.unavailable(ObjectIdentifier(lane), cause) else { return }
        statistics.withLock { $0.outages += 1 }
    }

    /// Has all connections made again: the server is not the master any more, and another address may be.
    func leave(_ cause: String) {
        onEachLane { if $0.isReady { $0.fail(cause) } }
    }

    func gate(_ urgency: RedisUrgency) -> RedisGate { gates[urgency.rawValue] }

    /// The bytes of the commands that wait for their reply.
    package var waitingBytes: Int { gates.reduce(0) { $0 + $1.bytes } }

    /// Counts the time of a reply that a request waited for, and adapts the deadline of the next ones.
    func noteReply(microseconds: Int) {
        quantile.withLock { $0.add(microseconds: microseconds) }
        statistics.withLock { $0.latency.add(microseconds: microseconds) }
        adaptDeadline()
    }

    func adaptDeadline() {
        let deadline = quantile.withLock { $0.deadline(longest: settings.timeout) }
        gate(.request).deadline.store(deadline, ordering: .relaxed)
        statistics.withLock { $0.deadline = Int(deadline) }
    }
}
