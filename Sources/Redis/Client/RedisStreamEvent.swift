/// The position of an entry in a stream: milliseconds and a sequence number.
package struct RedisStreamID: Sendable, Hashable, Comparable {
    package let milliseconds: UInt64
    package let sequence: UInt64

    package static let zero = RedisStreamID(milliseconds: 0, sequence: 0)

    package var text: String { "\(milliseconds)-\(sequence)" }

    package static func < (left: RedisStreamID, right: RedisStreamID) -> Bool {
        (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
    }
}

extension RedisStreamID {
    /// Parses the text of the wire, such as `1700000000000-0`.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = UInt64(parts[0]), let sequence = UInt64(parts[1])
        else { return nil }
        self.init(milliseconds: milliseconds, sequence: sequence)
    }
}

/// An entry of a stream: its position, and its fields in their order.
package struct RedisStreamEntry: Sendable, Equatable {
    package let id: RedisStreamID
    package let fields: [(name: [UInt8], value: [UInt8])]
    /// The time in which it was appended, in milliseconds since 1970 by this process's clock; nil if it may have been there before
    /// the streams were followed.
    ///
    /// Unlike its position it is nothing that a writer can choose, and it stays true however late the entry is handled.
    package var appended: ClosedRange<Int64>?

    package static func == (left: RedisStreamEntry, right: RedisStreamEntry) -> Bool {
        left.id == right.id && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }
}

/// An event of the streams that are followed; a stream is named by its place among them.
package enum RedisStreamEvent: Sendable, Equatable {
    /// New entries of a stream, in order; never empty.
    case entries(stream: Int, [RedisStreamEntry])
    /// Every entry of every stream so far has been passed on, and new ones will follow as they come.
    ///
    /// Comes once after the start, and once after each `restarted` and each `resumed`.
    case caughtUp
    /// Entries may be missing: the stream was trimmed before they were read, the server lost it (FLUSHALL, an old
    /// snapshot), or the server was started again.
    ///
    /// All entries that the stream has follow again.
    case restarted(stream: Int)
    /// The connection is gone.
    case interrupted
    /// The connection is back; entries that came in between follow.
    case resumed
}
