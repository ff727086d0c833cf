internal import Primitives

/// A parser of replies that keeps its state between pieces; a pure value.
///
/// Reads RESP2 and RESP3. A reply beyond its limits is an error, after which the connection is of no use.
package struct RESPParser: Sendable {
    private let limits: RESPLimits
    /// The line that has not ended yet.
    private var line: [UInt8] = []
    /// The string whose bytes are still coming; `missing` counts them with the end of the line.
    private var string: (bytes: [UInt8], missing: Int, kind: StringKind)?
    /// The open aggregates, the outermost first.
    private var open: [Aggregate] = []
    /// The size of the reply so far, with what its values take in memory.
    private var size = 0
    /// The bytes of the reply so far that were not kept.
    private var skipped = 0
    /// The pushes and their bytes since the last reply: no command bounds them.
    private var pushes = 0
    private var pushedBytes = 0

    private struct Aggregate: Sendable {
        var items: [RESPValue]
        var missing: Int
        let kind: AggregateKind
        /// The bytes of its strings that are kept.
        var bytes = 0
    }

    private enum AggregateKind { case value, attribute, push }
    private enum StringKind {
        case bytes, error, verbatim
        /// So many bytes that are not kept.
        case skipped(Int)
    }

    package init(limits: RESPLimits = RESPLimits()) {
        self.limits = limits
    }

    package var isBetweenReplies: Bool { line.isEmpty && string == nil && open.isEmpty }

    /// Returns the next whole reply, and moves `offset` behind the bytes that were used; nil if more must come.
    ///
    /// Messages that the server pushes on its own are skipped, up to a number and a size between two replies.
    package mutating func next(
        _ bytes: Span<UInt8>, from offset: inout Int
    ) throws(RESPParseError) -> RESPValue? {
        while offset < bytes.count {
            let value =
                string != nil ? try readString(bytes, &offset) : try readLine(bytes, &offset)
            if let value, let whole = close(value) {
                (size, skipped) = (0, 0)
                (pushes, pushedBytes) = (0, 0)
                return whole
            }
        }
        return nil
    }

    // MARK: Lines

    private mutating func readLine(
        _ bytes: Span<UInt8>, _ offset: inout Int
    ) throws(RESPParseError) -> RESPValue? {
        let rest = bytes.extracting(offset..<bytes.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            try append(rest)
            offset = bytes.count
            return nil
        }
        try append(rest.extracting(0..<end))
        offset += end + 1
        guard line.last == UInt8(ascii: "\r") else { throw .malformed("a line ends without CR") }
        var taken = exchange(&line, with: [])
        taken.removeLast()
        return try begin(taken)
    }

    private mutating func append(_ piece: Span<UInt8>) throws(RESPParseError) {
        guard line.count + piece.count <= limits.lineBytes else { throw .tooLarge("a line") }
        line.append(piece)
    }

    /// Begins the value that a line announces; returns it if the line is all of it.
    private mutating func begin(_ line: [UInt8]) throws(RESPParseError) -> RESPValue? {
        guard let type = line.first else { throw .malformed("an empty line") }
        let rest = Array(line.dropFirst())
        try count(rest.count)
        switch type {
        case UInt8(ascii: "+"): return .status(rest)
        case UInt8(ascii: "-"): return .error(Self.error(rest))
        case UInt8(ascii: ":"): return .integer(try Self.number(rest))
        case UInt8(ascii: "_"): return .null
        case UInt8(ascii: "#"): return .integer(try Self.boolean(rest))
        case UInt8(ascii: ","), UInt8(ascii: "("): return .bytes(rest)
        case UInt8(ascii: "$"): return try beginString(rest, .bytes)
        case UInt8(ascii: "!"): return try beginString(rest, .error)
        case UInt8(ascii: "="): return try beginString(rest, .verbatim)
        case UInt8(ascii: "*"), UInt8(ascii: "~"): return try beginAggregate(rest, .value, width: 1)
        case UInt8(ascii: "%"): return try beginAggregate(rest, .value, width: 2)
        case UInt8(ascii: "|"): return try beginAggregate(rest, .attribute, width: 2)
        case UInt8(ascii: ">"): return try beginAggregate(rest, .push, width: 1)
        default: throw .malformed("an unknown type of value")
        }
    }

    /// Counts a value and its bytes against the limit of the reply.
    private mutating func count(_ bytes: Int) throws(RESPParseError) {
        size += bytes + Self.valueBytes
        guard size <= limits.replyBytes else { throw .tooLarge("a reply") }
        try checkPush()
    }

    /// Checks an open push against what a server may push without a reply.
    private func checkPush() throws(RESPParseError) {
        guard let outermost = open.first, outermost.kind != .value else { return }
        guard pushedBytes + size + skipped <= limits.pushedBytes else { throw .tooLarge(Self.pushed) }
    }

    private static let pushed = "what the server pushes without a reply"

    /// Counts a push, or an attribute, which belongs to no command either.
    private mutating func beginPush() throws(RESPParseError) {
        pushes += 1
        guard pushes <= limits.pushes, pushedBytes + size <= limits.pushedBytes else {
            throw .tooLarge(Self.pushed)
        }
    }

    private mutating func endPush() {
        pushedBytes += size + skipped
        (size, skipped) = (0, 0)
    }

    /// The memory of a value without its bytes, about.
    private static let valueBytes = 32

    // MARK: Strings

    private mutating func beginString(
        _ count: [UInt8], _ kind: StringKind
    ) throws(RESPParseError) -> RESPValue? {
        guard let count = try Self.length(count) else { return .null }
        let isKept = count <= limits.stringBytes && (open.last?.bytes ?? 0) + count <= limits.arrayBytes
        guard isKept else { return try skipString(count) }
        guard size + count <= limits.replyBytes else { throw .tooLarge("a reply") }
        size += count
        if let last = open.indices.last { open[last].bytes += count }
        try checkPush()
        string = ([], count + 2, kind)
        // Reserves little of a length that the server may never send.
        string?.bytes.reserveCapacity(min(count, 64 * 1024) + 2)
        return nil
    }

    /// Skips a string, so that the connection is of use after it.
    private mutating func skipString(_ count: Int) throws(RESPParseError) -> RESPValue? {
        skipped += count
        guard skipped <= limits.skippedBytes else { throw .tooLarge("a reply") }
        try checkPush()
        string = ([], count + 2, .skipped(count))
        return nil
    }

    private mutating func readString(
        _ bytes: Span<UInt8>, _ offset: inout Int
    ) throws(RESPParseError) -> RESPValue? {
        // Taken out, so that the bytes are changed in place.
        guard var taken = string.take() else { return nil }
        let count = min(taken.missing, bytes.count - offset)
        var kept = offset
        if case .skipped = taken.kind { kept += min(max(taken.missing - 2, 0), count) }
        taken.bytes.append(bytes.extracting(kept..<offset + count))
        taken.missing -= count
        offset += count
        guard taken.missing == 0 else {
            string = taken
            return nil
        }
        let end = taken.bytes.count - 2
        guard taken.bytes[end] == UInt8(ascii: "\r"), taken.bytes[end + 1] == UInt8(ascii: "\n") else {
            throw .malformed("a string ends without CR LF")
        }
        taken.bytes.removeLast(2)
        switch taken.kind {
        case .bytes: return .bytes(taken.bytes)
        case .error: return .error(Self.error(taken.bytes))
        case .skipped(let count): return .error(.tooLarge(bytes: count))
        case .verbatim:
            guard taken.bytes.count >= 4, taken.bytes[3] == UInt8(ascii: ":") else {
                throw .malformed("a verbatim string without its format")
            }
            return .bytes(Array(taken.bytes[4...]))
        }
    }

    // MARK: Aggregates

    private mutating func beginAggregate(
        _ count: [UInt8], _ kind: AggregateKind, width: Int
    ) throws(RESPParseError) -> RESPValue? {
        guard let count = try Self.length(count) else {
            // A null is a reply, and pushes and attributes are none.
            guard kind == .value else { throw .malformed("an invalid length") }
            return .null
        }
        guard open.count < limits.depth else { throw .tooLarge("the depth of a reply") }
        // Every item takes memory, so a count beyond the limit cannot come whole.
        guard size + count * width * Self.valueBytes <= limits.replyBytes else { throw .tooLarge("a reply") }
        let isPush = kind != .value && open.isEmpty
        if isPush { try beginPush() }
        if count == 0 {
            if isPush { endPush() }
            return kind == .value ? .array([]) : nil
        }
        open.append(Aggregate(items: [], missing: count * width, kind: kind))
        return nil
    }

    /// Puts a value into the innermost open aggregate, and closes those that are whole; returns a whole reply.
    private mutating func close(_ value: RESPValue) -> RESPValue? {
        var value = value
        while let last = open.indices.last {
            open[last].items.append(value)
            open[last].missing -= 1
            guard open[last].missing == 0, let whole = open.popLast() else { return nil }
            // Attributes belong to the next value, and pushes to no command.
            guard whole.kind == .value else {
                if open.isEmpty { endPush() }
                return nil
            }
            value = .array(whole.items)
        }
        return value
    }

    // MARK: Numbers

    /// Returns the length of a string or an aggregate; nil for the null of RESP2.
    private static func length(_ digits: [UInt8]) throws(RESPParseError) -> Int? {
        let number = try number(digits)
        if number == -1 { return nil }
        guard 0...Int64(Int32.max) ~= number else { throw .malformed("an invalid length") }
        return Int(number)
    }

    private static func number(_ digits: [UInt8]) throws(RESPParseError) -> Int64 {
        guard let number = Int64(String(digits.span)) else { throw .malformed("an invalid number") }
        return number
    }

    private static func boolean(_ text: [UInt8]) throws(RESPParseError) -> Int64 {
        switch text {
        case [UInt8(ascii: "t")]: return 1
        case [UInt8(ascii: "f")]: return 0
        default: throw .malformed("an invalid boolean")
        }
    }

    private static func error(_ text: [UInt8]) -> RedisErrorReply {
        let text = String(text.span)
        let word = text.prefix { $0 != " " }
        let isCode = !word.isEmpty && word.utf8.allSatisfy { 0x41...0x5A ~= $0 }
        guard isCode else { return RedisErrorReply(code: "ERR", message: text) }
        return RedisErrorReply(code: String(word), message: String(text.dropFirst(word.count + 1)))
    }
}

package struct RESPLimits: Sendable {
    /// The bytes of a line: a status, an error, a number.
    package var lineBytes = 16 * 1024
    /// The bytes of a whole reply, with 32 for each value in it.
    package var replyBytes = 20 << 20
    /// The bytes of a string that is kept, of which Dictum writes 900,000 at most; in place of a longer one comes an error.
    package var stringBytes = 1_250_000
    /// The bytes of the strings of one array that are kept; in place of those beyond come errors.
    package var arrayBytes = Int.max
    /// The bytes of a reply that are skipped; Redis has no string that is longer.
    package var skippedBytes = 512 << 20
    /// The pushes between two replies, and their bytes as of a reply; Dictum asks for none, so any are a fault or an attack.
    package var pushes = 1000
    package var pushedBytes = 1 << 20
    package var depth = 8

    package init() {}

    /// The limits for entries of streams, whose strings have up to 56 KB; Dictum skips longer ones of others.
    ///
    /// The fields of an entry are one array. One that somebody else has made as large as a reply must not be the last one read.
    static let streams = {
        var limits = RESPLimits()
        limits.stringBytes = 128 * 1024
        limits.arrayBytes = 256 * 1024
        return limits
    }()
}

/// A reason why bytes are no reply.
package enum RESPParseError: Error, Equatable, Sendable {
    case malformed(String)
    case tooLarge(String)

    package var text: String {
        switch self {
        case .malformed(let what): "invalid reply: \(what)"
        case .tooLarge(let what): "\(what) is larger than allowed"
        }
    }
}
