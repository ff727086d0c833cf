internal import HTTP
internal import Primitives

/// One connection to the server that is made again whenever it ends, and the commands that wait on it.
///
/// Confined to its loop. Its core holds it until `close`; it does not hold its owner.
final class RedisLane: Handler {
    /// The terms of one kind of lane; times are in milliseconds.
    struct Terms {
        let urgency: RedisUrgency
        /// The time limit of a probe before the lane is used.
        let probeTimeout: Int64
        /// The time without any byte of a server that owes replies, after which the connection counts as dead.
        let silenceMax: Int64
        var limits = RESPLimits()
        /// The time without a command after which the server is asked for a sign of life.
        ///
        /// Servers and balancers close connections that are silent for some minutes, and others lose them without a word.
        var idleMax: Int64 = 30_000
    }

    /// Commands that are sent in one piece.
    struct Batch {
        let commands: [RedisCommand]
        /// The time of the loop's clock at which the caller no longer waits.
        let deadline: Int64
        /// True if nobody waits for the reply, and it tells nothing of those that somebody waits for.
        var isSignOfLife = false
        let ending: (Result<[RESPValue], RedisFailure>) -> Void
    }

    private struct Waiting {
        let count: Int
        let sentNanoseconds: Int64
        let sentAt: Int64
        let deadline: Int64
        let isSignOfLife: Bool
        var replies: [RESPValue] = []
        /// Nil once the caller no longer waits.
        var ending: ((Result<[RESPValue], RedisFailure>) -> Void)?
    }

    private enum Phase { case pausing, resolving, connecting, greeting, ready, closed }

    let core: EventLoop.Core
    let terms: Terms
    private let client: RedisClient
    private weak var owner: (any RedisLaneOwner)?
    private(set) var token = Token.none
    private var phase = Phase.pausing
    private(set) var breaker = CircuitBreaker()
    private var attempts = 0
    private var connection: RawConnection?
    private var parser: RESPParser
    private var greeting: RedisGreeting
    private(set) var facts = RedisServerFacts()
    /// The commands without all replies, the oldest first.
    private var waiting: [Waiting] = []
    /// The time of the next trial; nil while one is under way.
    private var phaseEnd: Int64?
    private var lastHeard: Int64 = 0
    /// True once a byte has come over this connection.
    private var hasHeard = false

    init(_ terms: Terms, client: RedisClient, owner: any RedisLaneOwner, core: EventLoop.Core) {
        self.terms = terms
        self.client = client
        self.owner = owner
        self.core = core
        greeting = RedisGreeting(client.settings, password: nil)
        parser = RESPParser(limits: terms.limits)
        token = core.add(self)
    }

    var isReady: Bool { phase == .ready }

    // MARK: Connecting

    func start() {
        guard phase != .closed else { return }
        breaker.beginTrial()
        phase = .resolving
        phaseEnd = nil
        owner?.laneChanged(self)
        client.resolver.resolve(client.settings) { [loop = core.loop, token] result in
            loop.execute { core in core.handler(token, as: RedisLane.self)?.resolved(result) }
        }
    }

    private func resolved(_ result: Result<RedisResolver.Target, RedisResolver.Failure>) {
        guard phase == .resolving else { return }
        switch result {
        case .failure(let failure): fail(failure.text)
        case .success(let target):
            phase = .connecting
            greeting = RedisGreeting(client.settings, password: target.password)
            // Another address of the name at each attempt.
            let endpoint = target.endpoints[attempts % target.endpoints.count]
            attempts += 1
            do throws(SystemError) {
                connection = try RawConnection(
                    to: endpoint, host: target.host, tls: target.tls, timeout: Self.connectTimeout,
                    core: core, handler: self)
            } catch {
                fail(error.text)
            }
        }
    }

    private static let connectTimeout: Int64 = 2_000
    /// The time for HELLO and SELECT together.
    private static let greetingTimeout: Int64 = 2_000

    private func greet(_ step: RedisGreeting.Step) {
        switch step {
        case .send(let commands):
            submit(
                Batch(commands: commands, deadline: core.now + Self.greetingTimeout) {
                    [unowned self] result in
                    guard case .success(let replies) = result, let reply = replies.first else {
                        if result == .failure(.timedOut) {
                            fail("no reply within \(Self.greetingTimeout) ms")
                        }
                        return
                    }
                    greet(greeting.next(reply))
                })
        case .done(let facts):
            self.facts = facts
            probe()
        case .refused(let fault): fail(fault)
        }
    }

    /// Sends a probe, whose reply in time counts towards closing the breaker.
    private func probe() {
        let deadline = core.now + terms.probeTimeout
        submit(
            Batch(commands: [RedisCommand("PING")], deadline: deadline) { [unowned self] result in
                switch result {
                case .success(let replies):
                    if let fault = replies.first?.error?.connectionFault { return fail(fault) }
                    if breaker.noteProbe(now: core.now) { becomeReady() } else { probe() }
                case .failure(.timedOut): fail("PING takes longer than \(terms.probeTimeout) ms")
                case .failure: break
                }
            })
    }

    private func becomeReady() {
        phase = .ready
        phaseEnd = nil
        owner?.laneChanged(self)
    }

    // MARK: Ends

    /// Ends the connection, and tries again after a pause.
    func fail(_ cause: String) {
        guard phase != .closed, phase != .pausing else { return }
        breaker.open(now: core.now)
        phase = .pausing
        phaseEnd = core.now + breaker.pause(chance: Double.random(in: 0...1))
        drop()
        owner?.laneFailed(self, cause)
        updateDeadline()
    }

    /// Ends the lane for good.
    func close() {
        guard phase != .closed else { return }
        phase = .closed
        drop()
        core.remove(token)
    }

    private func drop() {
        connection?.close()
        connection = nil
        hasHeard = false
        parser = RESPParser(limits: terms.limits)
        for batch in exchange(&waiting, with: []) { end(batch, .failure(.lost)) }
    }

    // MARK: Commands

    /// Sends commands; the ending is called once, at once if the lane has no connection.
    func submit(_ batch: Batch) {
        guard let connection, phase == .ready || phase == .greeting else {
            return batch.ending(.failure(.lost))
        }
        guard batch.deadline > core.now else { return batch.ending(.failure(.timedOut)) }
        waiting.append(
            Waiting(
                count: batch.commands.count, sentNanoseconds: SystemClock.monotonicNanoseconds,
                sentAt: core.now, deadline: batch.deadline, isSignOfLife: batch.isSignOfLife,
                ending: batch.ending))
        var count = 0
        for command in batch.commands {
            connection.send(command.bytes)
            count += command.bytes.count
        }
        client.statistics.withLock { $0.bytesSent += count }
        updateDeadline()
    }

    private func end(_ batch: Waiting, _ result: Result<[RESPValue], RedisFailure>) {
        guard let ending = batch.ending else { return }
        client.statistics.withLock { statistics in
            switch result {
            case .success(let replies): statistics.count(replies)
            case .failure(let failure): statistics.count(failure, batch.count)
            }
        }
        ending(result)
    }

    private func took(_ reply: RESPValue) {
        guard !waiting.isEmpty else { return fail("a reply without a command") }
        if phase == .ready, let error = reply.error, let fault = error.connectionFault {
            client.statistics.withLock { $0.count(error) }
            if error.isDemotion { client.leave(fault) }
            return fail(fault)
        }
        if phase == .ready, let error = reply.error, !error.isMissingKey { client.reports.note(error) }
        waiting[0].replies.append(reply)
        guard waiting[0].replies.count == waiting[0].count else { return }
        let batch = waiting.removeFirst()
        let microseconds = Int((SystemClock.monotonicNanoseconds - batch.sentNanoseconds) / 1000)
        if terms.urgency == .request, !batch.isSignOfLife { client.noteReply(microseconds: microseconds) }
        if batch.ending != nil { breaker.noteReply() }
        end(batch, .success(batch.replies))
    }

    // MARK: Deadlines

    func expired(_ core: EventLoop.Core) {
        if phase == .pausing {
            if let phaseEnd, phaseEnd <= core.now { start() }
            return updateDeadline()
        }
        if let first = waiting.first, core.now - max(lastHeard, first.sentAt) >= silenceMax(for: first) {
            return fail("no reply for \(silenceMax(for: first)) ms")
        }
        for index in waiting.indices {
            guard index < waiting.count, case let batch = waiting[index], batch.deadline <= core.now,
                batch.ending != nil
            else { continue }
            waiting[index].ending = nil
            let isFailing = breaker.noteTimeout()
            end(batch, .failure(.timedOut))
            if isFailing { fail("\(CircuitBreaker.timeoutsMax) commands in a row have had no reply in time") }
            guard phase != .pausing else { return }
        }
        keepAlive()
        updateDeadline()
    }

    /// Sends a command that nobody waits for, so that the connection stays.
    private func keepAlive() {
        guard phase == .ready, waiting.isEmpty, core.now - lastHeard >= terms.idleMax else { return }
        submit(
            Batch(
                commands: [RedisCommand("PING")], deadline: core.now + Self.idleSilenceMax, isSignOfLife: true
            ) { _ in })
    }

    /// A server that stands still while nobody asks it for anything need not reply as fast.
    private static let idleSilenceMax: Int64 = 5_000

    private func silenceMax(for batch: Waiting) -> Int64 {
        batch.isSignOfLife && waiting.count == 1
            ? max(Self.idleSilenceMax, terms.silenceMax) : terms.silenceMax
    }

    private func updateDeadline() {
        guard phase != .closed else { return }
        var deadline = phaseEnd ?? .max
        if phase == .ready, waiting.isEmpty { deadline = lastHeard + terms.idleMax }
        for batch in waiting where batch.ending != nil { deadline = min(deadline, batch.deadline) }
        if let first = waiting.first {
            deadline = min(deadline, max(lastHeard, first.sentAt) + silenceMax(for: first))
        }
        core.setDeadline(token, deadline == .max ? nil : deadline)
    }
}

// MARK: - The connection's events

extension RedisLane: RawConnectionHandler {
    func connected() {
        phase = .greeting
        client.statistics.withLock { $0.connections += 1 }
        greet(.send([greeting.hello]))
    }

    func received(_ bytes: Span<UInt8>) {
        lastHeard = core.now
        hasHeard = true
        client.statistics.withLock { $0.bytesReceived += bytes.count }
        var offset = 0
        do throws(RESPParseError) {
            // A reply may end the connection.
            while connection != nil, let reply = try parser.next(bytes, from: &offset) { took(reply) }
        } catch {
            fail(error.text)
        }
        updateDeadline()
    }

    func ended(_ error: UpstreamError) {
        switch error {
        case .connectFailed(let error): fail(error.text)
        case .connectTimeout where client.settings.usesTLS:
            fail("no TLS within \(Self.connectTimeout) ms; for a port without TLS write redis://")
        case .connectTimeout: fail("no connection within \(Self.connectTimeout) ms")
        case .handshakeFailed(.certificate(let why)): fail("TLS: \(TLSFailure.certificate(why).text)")
        case .handshakeFailed(let failure):
            fail("TLS: \(failure.text); for a port without TLS write redis://")
        default:
            fail("it has closed the connection" + (isUnheard ? "; for a port with TLS write rediss://" : ""))
        }
    }

    /// True if a server without TLS has never said a word.
    private var isUnheard: Bool { phase == .greeting && !client.settings.usesTLS && !hasHeard }
}

/// The owner of a lane, called on its loop.
protocol RedisLaneOwner: AnyObject {
    func laneChanged(_ lane: RedisLane)
    /// The connection has ended, or could not be made, for this reason.
    func laneFailed(_ lane: RedisLane, _ cause: String)
}
