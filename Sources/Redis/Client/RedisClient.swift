package import HTTP

/// A client of one Redis or Valkey server; safe from any thread.
///
/// Its connections live on an event loop of their own: one for commands that requests wait for, one for background
/// commands, and one per stream that is followed.
package final class RedisClient: Sendable {
    package typealias Ending = @Sendable (Result<[RESPValue], RedisFailure>) -> Void

    package let settings: RedisSettings
    private let report: @Sendable (RedisReport) -> Void

    /// Makes a client, which connects after `start`.
    package init(settings: RedisSettings, report: @escaping @Sendable (RedisReport) -> Void) {
        self.settings = settings
        self.report = report
    }

    /// Begins to connect.
    package func start() {}

    /// Ends all connections; commands without a reply end with `lost`.
    package func stop() {}

    /// True while commands are accepted: the circuit breaker is closed.
    package var isAvailable: Bool { false }

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
        throw .unavailable
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

    /// Passes on the entries of a stream after a position, for as long as the client runs.
    ///
    /// `onEvent` is called on the client's own loop, in order, and must be short.
    package func follow(
        _ stream: [UInt8], after position: RedisStreamID = .zero,
        onEvent: @escaping @Sendable (RedisStreamEvent) -> Void
    ) {}
}

/// A message for the operator.
package enum RedisReport: Sendable, Equatable {
    case info(String)
    case warning(String)
}
