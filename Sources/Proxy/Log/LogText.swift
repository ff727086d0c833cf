internal import Primitives

/// Appends the parts of a log line without an intermediate `String`.
extension [UInt8] {
    mutating func append(_ literal: StaticString) {
        // Safe: the pointer is used within the call.
        literal.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    mutating func append(decimal number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = number.magnitude
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

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
        digits(date.year, 4, to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        digits(date.month, 2, to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        digits(date.day, 2, to: &buffer)
        buffer.append(UInt8(ascii: "T"))
        appendClock(secondOfDay, to: &buffer)
        buffer.append(UInt8(ascii: "."))
        digits(microsecond / 1_000, 3, to: &buffer)
        buffer.append(UInt8(ascii: "Z"))
    }

    /// Appends a time as `31/Jan/2026:23:59:59 +0000`, the form of the Common Log Format.
    static func appendCommon(_ microseconds: Int, to buffer: inout [UInt8]) {
        let (date, secondOfDay, _) = parts(microseconds)
        digits(date.day, 2, to: &buffer)
        buffer.append(UInt8(ascii: "/"))
        let names: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
        // Safe: the pointer is used within the call, at a month from 1 to 12 of three letters each.
        names.withUTF8Buffer { unsafe buffer.append(contentsOf: $0[(3 * date.month - 3)..<(3 * date.month)]) }
        buffer.append(UInt8(ascii: "/"))
        digits(date.year, 4, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        appendClock(secondOfDay, to: &buffer)
        buffer.append(" +0000")
    }

    private static func parts(_ microseconds: Int) -> (date: CivilDate, secondOfDay: Int, microsecond: Int) {
        let seconds = Int(floorDivide(Int64(microseconds), 1_000_000))
        let date = CivilDate(daysSinceEpoch: floorDivide(Int64(seconds), 86_400))
        return (date, seconds - Int(date.daysSinceEpoch) * 86_400, microseconds - seconds * 1_000_000)
    }

    private static func appendClock(_ secondOfDay: Int, to buffer: inout [UInt8]) {
        digits(secondOfDay / 3_600, 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        digits(secondOfDay / 60 % 60, 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        digits(secondOfDay % 60, 2, to: &buffer)
    }

    /// Appends the last `width` decimal digits of a non-negative number.
    private static func digits(_ number: Int, _ width: Int, to buffer: inout [UInt8]) {
        let end = buffer.count + width
        var rest = number.magnitude
        for _ in 0..<width { buffer.append(UInt8(ascii: "0")) }
        for place in 1...width {
            buffer[end - place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
