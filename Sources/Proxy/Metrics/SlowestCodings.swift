internal import Dictionaries

/// The slowest codings of each route on one loop, in the last five to ten minutes.
///
/// It knows no URLs, so that it can be shown for private routes too.
struct SlowestCodings: Sendable {
    struct Entry: Encodable, Sendable, Equatable {
        let coding: String
        let bodyBytes: Int
        let sentBytes: Int
        /// The time that encoders took.
        let seconds: Double
        /// The arrival of the request, in seconds since 1970.
        let time: Int

        init(_ record: RequestRecord) {
            coding = record.coding.rawValue
            bodyBytes = record.bodyBytesBefore
            sentBytes = record.bodyBytesSent
            seconds = Double(record.codingNanoseconds) / 1e9
            time = record.timeMicroseconds / 1_000_000
        }
    }

    /// The number of entries per route.
    static let countMax = 3
    private static let windowSeconds = 300

    /// One route: the current window of time, and the one before.
    private struct Row: Sendable {
        var current: [Entry] = []
        var former: [Entry] = []
        /// Only a longer time enters the current window.
        var secondsAbove = 0.0
        var start = 0
    }

    private var rows: [Row] = []

    /// Keeps a coding if it is among the slowest of its row.
    mutating func add(_ entry: Entry, row: Int) {
        if row >= rows.count { rows += [Row](repeating: Row(), count: row + 1 - rows.count) }
        if entry.time - rows[row].start >= Self.windowSeconds {
            rows[row] = Row(former: rows[row].current, start: entry.time)
        }
        guard entry.seconds > rows[row].secondsAbove else { return }
        rows[row].current = Self.slowest(rows[row].current + [entry])
        guard rows[row].current.count == Self.countMax, let last = rows[row].current.last else { return }
        rows[row].secondsAbove = last.seconds
    }

    /// Returns the entries of a row that are not too old, the slowest first.
    func entries(row: Int, now: Int) -> [Entry] {
        guard rows.indices.contains(row) else { return [] }
        return Self.slowest(
            (rows[row].current + rows[row].former).filter {
                now - $0.time < 2 * Self.windowSeconds
            })
    }

    static func slowest(_ entries: [Entry]) -> [Entry] {
        Array(entries.sorted { $0.seconds > $1.seconds }.prefix(countMax))
    }
}
