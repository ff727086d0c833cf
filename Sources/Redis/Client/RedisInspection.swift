internal import Glibc
internal import HTTP
internal import Primitives

/// An inspection of a server for commands such as `dictum doctor`; blocking.
package struct RedisInspection: Sendable {
    /// The findings, the faults first.
    package let findings: [RedisAdvice.Finding]
    /// The server as it names itself, such as `redis 7.0.15`; empty without a connection.
    package let server: String
    /// The milliseconds that a response would wait for it; nil without measurements.
    package let deadline: Int?
    /// The time within which 99 % of the replies came, in microseconds.
    package let latencyMicroseconds: Int?

    /// Connects, reads INFO, and with `writes` tries every command that a shared store needs.
    package init(_ settings: RedisSettings, writes: Bool, timeoutMilliseconds: Int = 5_000) {
        let session = RedisSession(settings)
        defer { session.client.stop() }
        guard session.connect(milliseconds: timeoutMilliseconds) else {
            findings = [.fault(session.lastWarning ?? "no connection within \(timeoutMilliseconds) ms")]
            (server, deadline, latencyMicroseconds) = ("", nil, nil)
            return
        }
        var found: [RedisAdvice.Finding] = []
        var name = ""
        switch session.ask([RedisCommand("INFO")])?.first {
        case .bytes(let text)?:
            let info = RedisInfo(String(text.span))
            name = info["valkey_version"].map { "valkey \($0)" } ?? "redis \(info["redis_version"] ?? "")"
            found = RedisAdvice.findings(info)
        case .error(let error)?:
            found = [.advice("it does not tell its state: \(error.advice ?? error.message)")]
        default: found = [.fault("no reply to INFO")]
        }
        if writes { found += Self.tryCommands(session) }
        let times = writes ? Self.measure(session) : []
        findings = found.filter(\.isFault) + found.filter { !$0.isFault }
        server = name
        latencyMicroseconds = times.isEmpty ? nil : times.sorted()[(times.count * 99 + 99) / 100 - 1]
        deadline = times.isEmpty ? nil : session.client.counts.deadline
    }

    /// Tries the commands on keys of its own, which it removes.
    private static func tryCommands(_ session: RedisSession) -> [RedisAdvice.Finding] {
        let prefix = "\(session.client.settings.keyPrefix):1:check-\(UInt32.random(in: 0 ... .max))"
        let (key, stream) = (Array(prefix.utf8), Array("\(prefix)-stream".utf8))
        let commands: [RedisCommand] = [
            .setIfAbsent(key, to: [1, 0, 13, 10], seconds: 10), .get(key), .getAll([key]),
            .expire(key, seconds: 10),
            .append(to: stream, [(name: [0x76], value: [1])], lengthMax: 1),
            RedisCommand("XREAD", "STREAMS", prefix + "-stream", "0"),
            RedisCommand("XINFO", "STREAM", prefix + "-stream"),
            RedisCommand("XRANGE", prefix + "-stream", "-", "+", "COUNT", "1"),
            RedisCommand("SCAN", "0", "MATCH", prefix, "COUNT", "1"),
            .delete([key, stream]),
        ]
        guard let replies = session.ask(commands) else {
            return [.fault("no reply to \(commands.count) commands")]
        }
        var findings: [RedisAdvice.Finding] = []
        for (command, reply) in zip(commands, replies) {
            guard let error = reply.error, !error.isMissingKey else { continue }
            findings.append(
                .fault("\(command.name) fails: \(error.advice ?? "\(error.code) \(error.message)")"))
        }
        if findings.isEmpty, replies[1] != .bytes([1, 0, 13, 10]) {
            findings.append(.fault("it returns another value than it was given"))
        }
        return findings
    }

    /// Returns the times of replies in microseconds.
    private static func measure(_ session: RedisSession) -> [Int] {
        (0..<100).compactMap { _ in
            let start = SystemClock.monotonicNanoseconds
            guard session.ask([RedisCommand("PING")], .request) != nil else { return nil }
            return Int((SystemClock.monotonicNanoseconds - start) / 1_000)
        }
    }
}

/// A client whose commands block the calling thread, for command lines.
package final class RedisSession: Sendable {
    package let client: RedisClient
    private let warnings: Guarded<[String]>

    package init(_ settings: RedisSettings) {
        let warnings = Guarded<[String]>([])
        self.warnings = warnings
        client = RedisClient(settings: settings, advises: false) { report in
            switch report {
            case .info: break
            case .warning(let text), .unavailable(let text): warnings.withLock { $0.append(text) }
            }
        }
    }

    package var lastWarning: String? { warnings.withLock { $0.last } }

    /// Connects; returns false if that fails or takes too long.
    ///
    /// - Parameter othersMilliseconds: The time for the other addresses of the name after the first has failed: it may be that
    ///   of a replica.
    package func connect(milliseconds: Int, othersMilliseconds: Int = 2_000) -> Bool {
        client.start()
        var end = SystemClock.monotonicNanoseconds + Int64(milliseconds) * 1_000_000
        var hasFailed = false
        while !(client.isAvailable && client.isBackgroundAvailable) {
            let now = SystemClock.monotonicNanoseconds
            guard now < end else { return false }
            if !hasFailed, !warnings.withLock(\.isEmpty) {
                hasFailed = true
                end = min(end, now + Int64(othersMilliseconds) * 1_000_000)
            }
            usleep(2_000)
        }
        warnings.withLock { $0 = [] }
        return true
    }

    /// Returns the replies to commands; nil without all of them.
    package func ask(_ commands: [RedisCommand], _ urgency: RedisUrgency = .background) -> [RESPValue]? {
        let result = AwaitedValue<Result<[RESPValue], RedisFailure>>()
        do throws(RedisFailure) {
            try client.send(commands, urgency, onEnd: result.give)
        } catch {
            return nil
        }
        // Every command has an end, since it has a deadline.
        return try? result.take()?.get()
    }
}
