import Dispatch
import Foundation
import Primitives
import Redis
import TestSupport
import Testing

/// A client of one test, its reports and its events.
final class TestClient: Sendable {
    let client: RedisClient
    private let reported: Guarded<[RedisReport]>
    private let events = Guarded<[RedisStreamEvent]>([])

    /// Makes a client and starts it; `isAwaited` waits until it is available.
    init(_ settings: RedisSettings, isAwaited: Bool = true) throws {
        let reported = Guarded<[RedisReport]>([])
        self.reported = reported
        client = RedisClient(settings: settings) { report in reported.withLock { $0.append(report) } }
        client.start()
        if isAwaited { try waitUntil("the client is available: \(self.reports)") { isWhole } }
    }

    convenience init(_ server: RedisServer, isAwaited: Bool = true) throws {
        try self.init(RedisSettings(address: .unix(path: server.socket)), isAwaited: isAwaited)
    }

    deinit { client.stop() }

    /// True while both kinds of commands are accepted.
    var isWhole: Bool {
        client.isAvailable && (try? ask(RedisCommand("PING"), .background)) != nil
    }

    /// The texts of the reports so far.
    var reports: [String] {
        reported.withLock { reports in
            reports.map { report in
                switch report {
                case .info(let text), .warning(let text), .unavailable(let text): text
                }
            }
        }
    }

    var warnings: [String] {
        reported.withLock { reports in
            reports.compactMap { if case .warning(let text) = $0 { text } else { nil } }
        }
    }

    /// Sends commands and waits for their end; throws if they are not sent.
    func result(
        _ commands: [RedisCommand], _ urgency: RedisUrgency = .background, deadline: Int64? = nil
    ) throws -> Result<[RESPValue], RedisFailure> {
        let box = Guarded<Result<[RESPValue], RedisFailure>?>(nil)
        let gate = Gate()
        try client.send(commands, urgency, deadline: deadline) { result in
            box.withLock { $0 = result }
            gate.open()
        }
        try #require(gate.wait(), "\(commands.first?.name ?? "") has no end")
        return try #require(box.withLock { $0 })
    }

    /// Sends a command and returns its reply.
    func ask(_ command: RedisCommand, _ urgency: RedisUrgency = .background) throws -> RESPValue {
        try #require(try result([command], urgency).get().first)
    }

    func waitForReport(_ words: String) throws {
        try waitUntil("a report with \(words): \(reports)") { reports.contains { $0.contains(words) } }
    }

    // MARK: Streams

    func follow(_ streams: String..., on queue: DispatchQueue = DispatchQueue(label: "events")) {
        client.follow(streams.map { Array($0.utf8) }, on: queue) { [events] event in
            events.withLock { $0.append(event) }
        }
    }

    var seen: [RedisStreamEvent] { events.withLock { $0 } }

    /// All entries so far, in order.
    var entries: [RedisStreamEntry] {
        seen.flatMap { event in
            if case .entries(_, let entries) = event { entries } else { [RedisStreamEntry]() }
        }
    }

    /// Their values.
    var values: [String] {
        entries.flatMap { $0.fields.map { String(decoding: $0.value, as: UTF8.self) } }
    }

    func waitFor(_ event: RedisStreamEvent, count: Int = 1) throws {
        try waitUntil("\(event), \(count) times: \(seen)") { seen.count { $0 == event } >= count }
    }

    func waitForValues(_ values: [String]) throws {
        try waitUntil("\(values): \(seen)") { self.values == values }
    }
}
