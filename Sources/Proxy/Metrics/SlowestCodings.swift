internal import Dictionaries

/// The slowest codings of each route on one loop, in the last five to ten minutes.
///
/// It knows no URLs, so that it can be shown for private routes too.
struct SlowestCodings: Sendable {
    struct Entry: Sendable, Equatable {
        let coding: ContentCoding
        let bodyBytes: Int
        let sentBytes: Int
        /// The time that encoders took.
        let nanoseconds: Int
        /// The arrival of the request, in microseconds since 1970.
        let timeMicroseconds: Int

        init(_ record: RequestRecord) {
            coding = record.coding
            bodyBytes = record.bodyBytesBefore
            sentBytes = record.bodyBytesSent
            nanoseconds = record.codingNanoseconds
            timeMicroseconds = record.timeMicroseconds
        }
    }

    /// The number of entries per route.
    static let countMax = 3
    private static let windowMicroseconds = 300_000_000

    /// One route: the current window of time, and the one before.
    private struct Row: Sendable {
        var current: [Entry] = []
        var former: [Entry] = []
        /// The shortest time that enters the current window.
        var nanosecondsMin = 0
        var start = 0
    }

    private var rows: [Row] = []

    /// Keeps a coding if it is among the slowest of its row.
    mutating func add(_ entry: Entry, row: Int) {
        if row >= rows.count { rows += [Row](repeating: Row(), count: row + 1 - rows.count) }
        if entry.timeMicroseconds - rows[row].start >= Self.windowMicroseconds {
            rows[row] = Row(former: rows[row].current, start: entry.timeMicroseconds)
        }
        guard entry.nanoseconds >= rows[row].nanosecondsMin else { return }
        rows[row].current = Self.slowest(rows[row].current + [entry])
        guard rows[row].current.count == Self.countMax, let last = rows[row].current.last else { return }
        rows[row].nanosecondsMin = last.nanoseconds + 1
    }

    /// Returns the entries of a row that are not too old, the slowest first.
    func entries(row: Int, now microseconds: Int) -> [Entry] {
        guard rows.indices.contains(row) else { return [] }
        return Self.slowest(
            (rows[row].current + rows[row].former).filter {
                microseconds - $0.timeMicroseconds < 2 * Self.windowMicroseconds
            })
    }

    static func slowest(_ entries: [Entry]) -> [Entry] {
        Array(entries.sorted { $0.nanoseconds > $1.nanoseconds }.prefix(countMax))
    }
}
