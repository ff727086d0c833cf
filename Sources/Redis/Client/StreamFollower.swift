internal import Dispatch
internal import HTTP
internal import Primitives

/// Follows streams on a lane of its own: looks at them, reads what is new, waits for more, and begins again.
///
/// Confined to its loop, whose core holds it.
final class StreamFollower: Handler, RedisLaneOwner {
    static let terms = RedisLane.Terms(
        urgency: .background, probeTimeout: 2_000, silenceMax: blockMilliseconds + 5_000, limits: .streams)

    /// The time for which the server keeps a read that has nothing to return; then the streams are looked at.
    private static let blockMilliseconds: Int64 = 5_000
    /// The number of entries per stream and read, which mostly have some hundred bytes, and up to 56 KB.
    private static let pageMax = 256

    private let streams: [[UInt8]]
    /// The queue of the receiver, which may be slower than the server.
    private let queue: DispatchQueue
    private let onEvent: @Sendable (RedisStreamEvent) -> Void
    private let client: RedisClient
    private let core: EventLoop.Core
    private var token = Token.none
    private(set) lazy var lane = RedisLane(Self.terms, client: client, owner: self, core: core)
    private var progress: [StreamProgress]
    /// The identity of the server's process.
    private var serverRun: String?
    private var lookedAt: Int64 = 0
    private var owesCaughtUp = true
    private var wasReady = false
    private var isInterrupted = false
    /// The number of entries of the next read: fewer after one that failed, perhaps because they are too large together.
    private var page = pageMax
    private var isReading = false
    /// The time of a read since when none has left entries behind, in milliseconds since 1970; nil before there was one.
    private var readAllAt: Int64?
    private var isReported = false
    /// The number of the connection, so that nothing goes on that belongs to a former one.
    private var round = 0

    init(
        _ streams: [[UInt8]], client: RedisClient, core: EventLoop.Core, on queue: DispatchQueue,
        _ onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {
        self.streams = streams
        self.client = client
        self.core = core
        (self.queue, self.onEvent) = (queue, onEvent)
        progress = streams.map { _ in StreamProgress() }
        token = core.add(self)
    }

    // MARK: The lane

    func laneChanged(_ lane: RedisLane) {
        guard lane.isReady else { return }
        isReported = false
        round += 1
        if isInterrupted {
            isInterrupted = false
            owesCaughtUp = true
            pass(.resumed)
        }
        wasReady = true
        look()
    }

    func laneFailed(_ lane: RedisLane, _ cause: String) {
        client.noteFailure(of: lane, cause)
        if isReading { page = max(page / 8, 1) }
        isReading = false
        readAllAt = nil
        guard wasReady, !isInterrupted else { return }
        isInterrupted = true
        pass(.interrupted)
    }

    // MARK: Looking

    private func look() {
        lookedAt = core.now
        let commands =
            streams.map { RedisCommand("XINFO", [Array("STREAM".utf8), $0]) }
            + [RedisCommand("INFO", "server")]
        ask(commands, within: Self.terms.silenceMax) { [unowned self] replies in
            let isOtherServer = noteServer(replies.last)
            for (index, reply) in replies.dropLast().enumerated() {
                guard let facts = StreamFacts(reply) else { return refuse(reply) }
                guard progress[index].adopt(facts) || isOtherServer else { continue }
                progress[index].restart(facts)
                readAllAt = nil
                owesCaughtUp = true
                pass(.restarted(stream: index))
            }
            tellCaughtUp()
            read()
        }
    }

    /// Returns true if another process serves now, which may know less than the former one.
    private func noteServer(_ reply: RESPValue?) -> Bool {
        guard let run = reply?.text.flatMap({ RedisInfo($0)["run_id"] }) else { return false }
        defer { serverRun = run }
        return serverRun != nil && serverRun != run
    }

    private func tellCaughtUp() {
        guard owesCaughtUp, progress.allSatisfy(\.hasCaughtUp) else { return }
        // Only now: a server whose streams cannot be read would seem to come and go.
        if !isReported, lane.isReady { client.reports.available(ObjectIdentifier(lane), lane.facts) }
        isReported = true
        owesCaughtUp = false
        pass(.caughtUp)
    }

    // MARK: Reading

    private func read() {
        isReading = true
        let (page, sentAt) = (page, SystemClock.unixMilliseconds)
        let options = ["COUNT", "\(page)", "BLOCK", "\(Self.blockMilliseconds)", "STREAMS"]
        let arguments =
            options.map { Array($0.utf8) } + streams + progress.map { Array($0.last.text.utf8) }
        ask([RedisCommand("XREAD", arguments)], within: Self.terms.silenceMax) { [unowned self] replies in
            guard let reply = replies.first, let found = StreamReply.read(reply) else {
                return refuse(replies.first ?? .null)
            }
            isReading = false
            self.page = min(2 * page, Self.pageMax)
            // The receiver may have kept this read waiting, and the process may have been suspended.
            let now = SystemClock.unixMilliseconds
            let appended = readAllAt.map { min($0, now)...now }
            if found.allSatisfy({ $0.entries.count < page }) { readAllAt = sentAt }
            if found.isEmpty { for index in progress.indices { progress[index].noteEnd() } }
            for (name, var entries) in found where !entries.isEmpty {
                guard let index = streams.firstIndex(of: name) else { continue }
                for place in entries.indices { entries[place].appended = appended }
                progress[index].pass(entries)
                pass(.entries(stream: index, entries))
            }
            tellCaughtUp()
            if found.isEmpty { return look() }
            queue.async { [loop = core.loop, token, round] in
                loop.execute { core in core.handler(token, as: StreamFollower.self)?.goOn(round: round) }
            }
        }
    }

    private func pass(_ event: RedisStreamEvent) {
        queue.async { [onEvent] in onEvent(event) }
    }

    /// Goes on after a read, once the receiver has taken what was read.
    func goOn(round: Int) {
        guard round == self.round, lane.isReady else { return }
        if core.now - lookedAt >= Self.blockMilliseconds { look() } else { read() }
    }

    private func ask(
        _ commands: [RedisCommand], within milliseconds: Int64,
        onEnd: @escaping ([RESPValue]) -> Void
    ) {
        let deadline = core.now + milliseconds
        lane.submit(
            RedisLane.Batch(commands: commands, deadline: deadline) { [unowned self] result in
                switch result {
                case .success(let replies): onEnd(replies)
                case .failure(.timedOut): lane.fail("a read of the streams has had no reply in time")
                // The lane says why, and connects again.
                case .failure: break
                }
            })
    }

    private func refuse(_ reply: RESPValue) {
        let fault = reply.error.map { $0.advice ?? "\($0.code) \($0.message)" }
        lane.fail(fault ?? "it sends an invalid reply to XINFO or XREAD")
    }
}
