/// HTTP-date (RFC 9110 section 5.6.7) as seconds since 1970-01-01T00:00:00Z.
package enum FieldDate {
    /// Returns the time that the text names, in IMF-fixdate or one of the two obsolete forms; nil for anything
    /// else.
    ///
    /// The two-digit years of the RFC 850 form are 1970 to 2069. The name of the day is not compared with the date.
    package static func parse(_ text: String) -> Int64? {
        let bytes = text.utf8
        guard bytes.count <= 40 else { return nil }
        return parse(bytes.span)
    }

    private static func parse(_ text: Span<UInt8>) -> Int64? {
        var scanner = DateScanner()
        scanner.skipLetters(in: text)
        guard scanner.offset >= 3 else { return nil }
        if scanner.take(UInt8(ascii: ","), in: text) {
            guard scanner.take(UInt8(ascii: " "), in: text), let day = scanner.number(digits: 2, in: text),
                scanner.offset < text.count
            else { return nil }
            return text[scanner.offset] == UInt8(ascii: "-")
                ? rfc850(day, &scanner, in: text) : fixdate(day, &scanner, in: text)
        }
        return asctime(&scanner, in: text)
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` from behind the day.
    private static func fixdate(_ day: Int, _ scanner: inout DateScanner, in text: Span<UInt8>) -> Int64? {
        guard scanner.take(UInt8(ascii: " "), in: text), let month = scanner.month(in: text),
            scanner.take(UInt8(ascii: " "), in: text), let year = scanner.number(digits: 4, in: text),
            scanner.take(UInt8(ascii: " "), in: text), let time = scanner.time(in: text),
            scanner.takeGMT(in: text), scanner.offset == text.count
        else { return nil }
        return seconds(year: year, month: month, day: day, time: time)
    }

    /// Reads `Sunday, 06-Nov-94 08:49:37 GMT` from behind the day.
    private static func rfc850(_ day: Int, _ scanner: inout DateScanner, in text: Span<UInt8>) -> Int64? {
        guard scanner.take(UInt8(ascii: "-"), in: text), let month = scanner.month(in: text),
            scanner.take(UInt8(ascii: "-"), in: text), let year = scanner.number(digits: 2, in: text),
            scanner.take(UInt8(ascii: " "), in: text), let time = scanner.time(in: text),
            scanner.takeGMT(in: text), scanner.offset == text.count
        else { return nil }
        return seconds(year: year + (year < 70 ? 2000 : 1900), month: month, day: day, time: time)
    }

    /// Reads `Sun Nov  6 08:49:37 1994` from behind the name of the day.
    private static func asctime(_ scanner: inout DateScanner, in text: Span<UInt8>) -> Int64? {
        guard scanner.take(UInt8(ascii: " "), in: text), let month = scanner.month(in: text),
            scanner.take(UInt8(ascii: " "), in: text)
        else { return nil }
        let isPadded = scanner.take(UInt8(ascii: " "), in: text)
        guard let day = scanner.number(digits: isPadded ? 1 : 2, in: text),
            scanner.take(UInt8(ascii: " "), in: text), let time = scanner.time(in: text),
            scanner.take(UInt8(ascii: " "), in: text), let year = scanner.number(digits: 4, in: text),
            scanner.offset == text.count
        else { return nil }
        return seconds(year: year, month: month, day: day, time: time)
    }

    /// Returns the seconds since 1970, counted in years that begin with March (proleptic Gregorian calendar).
    private static func seconds(year: Int, month: Int, day: Int, time: Int) -> Int64? {
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[month - 1] else { return nil }
        let marchYear = month > 2 ? year : year - 1
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468) * 86_400 + Int64(time)
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}

/// The reading position in a date.
private struct DateScanner {
    var offset = 0

    mutating func take(_ byte: UInt8, in text: Span<UInt8>) -> Bool {
        guard offset < text.count, text[offset] == byte else { return false }
        offset += 1
        return true
    }

    mutating func skipLetters(in text: Span<UInt8>) {
        while offset < text.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[offset] | 0x20) {
            offset += 1
        }
    }

    mutating func number(digits: Int, in text: Span<UInt8>) -> Int? {
        guard offset + digits <= text.count else { return nil }
        guard let value = FieldSyntax.deltaSeconds(offset..<offset + digits, in: text) else { return nil }
        offset += digits
        return value
    }

    mutating func month(in text: Span<UInt8>) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        guard offset + 3 <= text.count else { return nil }
        let range = offset..<offset + 3
        guard let index = names.firstIndex(where: { FieldSyntax.equals(range, in: text, ignoringCase: $0) })
        else {
            return nil
        }
        offset += 3
        return index + 1
    }

    /// Reads `HH:MM:SS` as seconds of the day; a leap second counts as the second before it.
    mutating func time(in text: Span<UInt8>) -> Int? {
        guard let hour = number(digits: 2, in: text), take(UInt8(ascii: ":"), in: text),
            let minute = number(digits: 2, in: text), take(UInt8(ascii: ":"), in: text),
            let second = number(digits: 2, in: text), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    mutating func takeGMT(in text: Span<UInt8>) -> Bool {
        guard offset + 4 <= text.count,
            FieldSyntax.equals(offset..<offset + 4, in: text, ignoringCase: " gmt")
        else {
            return false
        }
        offset += 4
        return true
    }
}
