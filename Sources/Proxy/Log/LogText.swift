internal import Primitives

/// Appends the parts of a log line without an intermediate `String`.
extension [UInt8] {
    /// Appends untrusted bytes so that they can neither end their place in the line nor control a terminal.
    ///
    /// Three dots stand for bytes beyond the limit.
    mutating func append(escaping bytes: [UInt8], as place: LogPlace, limit: Int = .max) {
        if bytes.isEmpty, place != .json { append(UInt8(ascii: "-")) }
        let kept = bytes.prefix(limit)
        if kept.allSatisfy(place.isPlain) {
            append(contentsOf: kept)
        } else {
            for byte in kept {
                if place.isPlain(byte) { append(byte) } else { append(place, escaping: byte) }
            }
        }
        if kept.count < bytes.count { append("...") }
    }

    private mutating func append(_ place: LogPlace, escaping byte: UInt8) {
        append(place == .json ? #"\u00"# : #"\x"#)
        for digit in [byte >> 4, byte & 15] {
            let letter = UInt8(ascii: place == .quoted ? "A" : "a")
            append(digit < 10 ? UInt8(ascii: "0") + digit : letter + digit - 10)
        }
    }
}

/// A place of untrusted bytes in a line, which decides how they are escaped.
///
/// Nothing but printable ASCII is plain anywhere. An empty value is `-`, except in JSON.
enum LogPlace {
    /// A string of JSON: `\u00NN`.
    case json
    /// A word that a blank ends: `\xnn`.
    case word
    /// A text between quotation marks: `\xNN`, as nginx writes it.
    case quoted

    func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\\"): false
        case UInt8(ascii: " "): self != .word
        case UInt8(ascii: "\""): self == .word
        default: 0x21...0x7E ~= byte
        }
    }
}

/// Formats points in time, in UTC.
enum Timestamp {
    /// Appends a time as `2026-01-31T23:59:59.123Z` (RFC 3339), given in microseconds since 1970.
    static func append(_ microseconds: Int, to buffer: inout [UInt8]) {
        let (date, secondOfDay, microsecond) = parts(microseconds)
        appendYear(date.year, to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        HTTPDate.appendTwoDigits(date.month, into: &buffer)
        buffer.append(UInt8(ascii: "-"))
        HTTPDate.appendTwoDigits(date.day, into: &buffer)
        buffer.append(UInt8(ascii: "T"))
        HTTPDate.appendClock(secondOfDay, into: &buffer)
        buffer.append(UInt8(ascii: "."))
        HTTPDate.appendTwoDigits(microsecond / 10_000, into: &buffer)
        buffer.append(UInt8(ascii: "0") + UInt8(microsecond / 1_000 % 10))
        buffer.append(UInt8(ascii: "Z"))
    }

    /// Appends a time as `31/Jan/2026:23:59:59 +0000`, the form of the Common Log Format.
    static func appendCommon(_ microseconds: Int, to buffer: inout [UInt8]) {
        let (date, secondOfDay, _) = parts(microseconds)
        HTTPDate.appendTwoDigits(date.day, into: &buffer)
        buffer.append(UInt8(ascii: "/"))
        buffer.append(HTTPDate.monthNames[date.month - 1])
        buffer.append(UInt8(ascii: "/"))
        appendYear(date.year, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        HTTPDate.appendClock(secondOfDay, into: &buffer)
        buffer.append(" +0000")
    }

    private static func appendYear(_ year: Int, to buffer: inout [UInt8]) {
        HTTPDate.appendTwoDigits(year / 100, into: &buffer)
        HTTPDate.appendTwoDigits(year % 100, into: &buffer)
    }

    private static func parts(_ microseconds: Int) -> (date: CivilDate, secondOfDay: Int, microsecond: Int) {
        let seconds = Int(floorDivide(Int64(microseconds), 1_000_000))
        let date = CivilDate(daysSinceEpoch: floorDivide(Int64(seconds), 86_400))
        return (date, seconds - Int(date.daysSinceEpoch) * 86_400, microseconds - seconds * 1_000_000)
    }
}
