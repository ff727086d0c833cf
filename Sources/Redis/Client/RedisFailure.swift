/// A reason why commands have no reply.
package enum RedisFailure: String, Error, Sendable, CaseIterable {
    /// The circuit breaker is open: the server failed recently. Nothing was sent.
    case unavailable
    /// Too many commands or bytes wait for replies. Nothing was sent.
    case busy
    /// The deadline passed. The server may still execute the commands.
    case timedOut = "timeout"
    /// The connection ended. The server may have executed the commands.
    case lost
}

/// The urgency of commands, which decides their connection and their deadline.
package enum RedisUrgency: Int, Sendable, CaseIterable {
    /// A request waits: the deadline is 5 ms at least and `store.shared.timeout` at most, by measured latency.
    case request
    /// Nobody waits, or values are large: a connection of its own, with a deadline in seconds.
    case background
}
