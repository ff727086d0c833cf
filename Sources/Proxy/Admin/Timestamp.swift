/// Formats points in time as `2026-01-31T23:59:59.123Z` (RFC 3339).
enum Timestamp {
    /// Appends a time, given in microseconds since 1970.
    static func append(_ microseconds: Int, to buffer: inout [UInt8]) {
        let seconds = microseconds.quotientFloored(1_000_000)
        let days = seconds.quotientFloored(86_400)
        let secondOfDay = seconds - days * 86_400
        let date = civilDate(days: days)
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

    /// Returns the Gregorian date that is `days` days after 1970-01-01.
    ///
    /// Years begin on the first of March, so that a leap day is the last of its year. 400 years have 146,097 days, and
    /// five months from March on have 153 days.
    private static func civilDate(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.quotientFloored(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
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

extension Int {
    fileprivate func quotientFloored(_ divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
