package struct RedisStatistics: Sendable {
    /// The results of commands: a reply, an error reply, and the failures.
    package static let results = ["ok", "error"] + RedisFailure.allCases.map(\.rawValue)

    package fileprivate(set) var commands: [String: Int] = [:]
    /// The error replies by their code; codes without a name of their own count as `other`.
    package fileprivate(set) var errors: [String: Int] = [:]
    package var bytesSent = 0
    package var bytesReceived = 0
    /// The connections made; all but the first of each lane are reconnections.
    package var connections = 0
    /// The number of changes from available to not.
    package var outages = 0
    package var breaker = CircuitBreaker.State.open
    /// The milliseconds that a request waits for a reply now.
    package var deadline = 0
    package var latency = LatencyHistogram()

    /// The codes that have a name of their own.
    package static let errorCodes = [
        "BUSY", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOAUTH", "NOPERM", "OOM", "READONLY",
        "WRONGPASS", "WRONGTYPE",
    ]

    mutating func count(_ replies: [RESPValue]) {
        for reply in replies {
            let error = reply.error.flatMap { $0.isMissingKey ? nil : $0 }
            if let error { count(error) }
            commands[error == nil ? "ok" : "error", default: 0] += 1
        }
    }

    mutating func count(_ error: RedisErrorReply) {
        errors[Self.errorCodes.contains(error.code) ? error.code : "other", default: 0] += 1
    }

    mutating func count(_ failure: RedisFailure, _ count: Int) {
        commands[failure.rawValue, default: 0] += count
    }
}

/// The times of replies, in cumulative buckets.
package struct LatencyHistogram: Sendable {
    /// The upper bounds in microseconds.
    package static let bounds = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000,
    ]

    /// The number of replies of each bucket, the last for those beyond all bounds.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    package private(set) var sumMicroseconds = 0

    mutating func add(microseconds: Int) {
        counts[Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count] += 1
        sumMicroseconds += microseconds
    }
}
