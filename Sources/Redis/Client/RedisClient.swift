package import Dispatch
package import HTTP
internal import Primitives
internal import Synchronization

/// A client of one Redis or Valkey server; safe from any thread.
///
/// Commands that requests wait for have a connection on each loop that `start` is told, so that neither they nor their
/// replies change threads. An event loop of the client's own has the others: one connection for background commands, and one
/// per call of `follow`.
package final class RedisClient: Sendable {
    package typealias Ending = @Sendable (Result<[RESPValue], RedisFailure>) -> Void

    package let settings: RedisSettings
    let statistics = Guarded(RedisStatistics())
    let resolver = RedisResolver()
    let advises: Bool
    private let loop = EventLoop(label: "dictum.redis")
    private let gates: [RedisGate]
    let reports: RedisReports
    /// The loops with lanes, by their identity.
    private let places = Guarded<[ObjectIdentifier: Place]>([:])
    private let quantile = Guarded(LatencyQuantile())

    private struct Place: Sendable {
        let loop: EventLoop
        let token: Token
    }

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
            let lanes = RedisLanes(urgencies, client: self, core: core)
            let place = Place(loop: loop, token: core.add(lanes))
            places.withLock { $0[ObjectIdentifier(loop)] = place }
            lanes.start()
        }
    }

    private func lanes(on core: EventLoop.Core) -> RedisLanes? {
        let place = places.withLock { $0[ObjectIdentifier(core.loop)] }
        return place.flatMap { core.handler($0.token, as: RedisLanes.self) }
    }

    /// Ends all connections; commands without a reply end with `lost`.
    ///
    /// Blocks for a moment. Commands that are sent at the same time may stay without an end.
    package func stop() {
        for gate in gates { gate.close() }
        for place in places.withLock({ Array($0.values) }) {
            place.loop.execute { core in core.handler(place.token, as: RedisLanes.self)?.close() }
        }
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
        let submit: @Sendable (EventLoop.Core) -> Bool = { [self] core in
            let batch = RedisLane.Batch(commands: commands, deadline: limit, ending: ending)
            return lanes(on: core)?.submit(batch, urgency) ?? false
        }
        if let core, submit(core) { return }
        loop.execute { core in if !submit(core) { ending(.failure(.unavailable)) } }
    }

    /// Passes on the entries of streams, from the first one that they have, for as long as the client runs.
    ///
    /// Called after `start`. `onEvent` is called on the queue, in order; nothing more is read until it has returned.
    package func follow(
        _ streams: [[UInt8]], on queue: DispatchQueue,
        onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {
        loop.execute { [self] core in lanes(on: core)?.follow(streams, on: queue, onEvent) }
    }

    /// Has a follower go on once its queue has taken all events.
    func goOn(_ place: Int, round: Int) {
        // Weak: a loop that has ended keeps this for as long as the client keeps the loop.
        loop.execute { [weak self] core in self?.lanes(on: core)?.goOn(place, round: round) }
    }

    // MARK: The lanes' events

    func laneChanged(_ lane: RedisLane) {
        if lane.isReady { reports.available(ObjectIdentifier(lane), lane.facts) }
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        guard reports.unavailable(ObjectIdentifier(lane), cause) else { return }
        statistics.withLock { $0.outages += 1 }
    }

    /// Has all connections made again: the server is not the master any more, and another address may be.
    func leave(_ cause: String) {
        for place in places.withLock({ Array($0.values) }) {
            place.loop.execute { core in core.handler(place.token, as: RedisLanes.self)?.leave(cause) }
        }
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
