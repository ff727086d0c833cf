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

    /// Appends untrusted bytes so that they stay one word of the line.
    ///
    /// JSON gets `\u00NN` for every byte that is not printable ASCII. Text gets `\xNN` for bytes that end a word or
    /// line or control a terminal, and `-` for an empty value.
    mutating func append(escaping bytes: [UInt8], asJSON: Bool) {
        if bytes.isEmpty, !asJSON { append(UInt8(ascii: "-")) }
        if bytes.allSatisfy({ Self.isPlain($0, inJSON: asJSON) }) {
            append(contentsOf: bytes)
            return
        }
        for byte in bytes {
            if Self.isPlain(byte, inJSON: asJSON) {
                append(byte)
            } else {
                append(asJSON ? #"\u00"# : #"\x"#)
                append(Self.hexadecimal(byte >> 4))
                append(Self.hexadecimal(byte & 15))
            }
        }
    }

    private static func isPlain(_ byte: UInt8, inJSON: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "\\"): false
        case UInt8(ascii: "\""), UInt8(ascii: " "): inJSON == (byte == UInt8(ascii: " "))
        default: (0x21...0x7E).contains(byte)
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

/// Formats points in time as `2026-01-31T23:59:59.123Z` (RFC 3339).
enum Timestamp {
    /// Appends a time, given in microseconds since 1970.
    static func append(_ microseconds: Int, to buffer: inout [UInt8]) {
        let seconds = Int(floorDivide(Int64(microseconds), 1_000_000))
        let date = CivilDate(daysSinceEpoch: floorDivide(Int64(seconds), 86_400))
        let secondOfDay = seconds - Int(date.daysSinceEpoch) * 86_400
        digits(date.year, 4, to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        digits(date.month, 2, to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        digits(date.day, 2, to: &buffer)
        buffer.append(UInt8(ascii: "T"))
        digits(secondOfDay / 3_600, 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        digits(secondOfDay / 60 % 60, 2, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        digits(secondOfDay % 60, 2, to: &buffer)
        buffer.append(UInt8(ascii: "."))
        digits((microseconds - seconds * 1_000_000) / 1_000, 3, to: &buffer)
        buffer.append(UInt8(ascii: "Z"))
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
