/// Writes and reads HTTP dates (RFC 9110 section 5.6.7) as seconds since 1970-01-01T00:00:00Z.
package enum HTTPDate {
    /// The length of an IMF-fixdate.
    package static let byteCount = 29

    /// Returns a Unix time as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Years outside 0 to 9999 are clamped.
    package static func bytes(unixSeconds: Int64) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(byteCount)
        write(unixSeconds: unixSeconds, into: &output)
        return output
    }

    /// Appends a Unix time as an IMF-fixdate; years outside 0 to 9999 are clamped.
    package static func write(unixSeconds: Int64, into output: inout [UInt8]) {
        let seconds = min(max(unixSeconds, earliest), latest)
        let day = CivilDate(daysSinceEpoch: floorDivide(seconds, 86_400))
        let second = Int(seconds - day.daysSinceEpoch * 86_400)
        output.append(dayNames[day.weekday])
        output.append(", ")
        appendTwoDigits(day.day, into: &output)
        output.append(ASCII.space)
        output.append(monthNames[day.month - 1])
        output.append(ASCII.space)
        appendTwoDigits(day.year / 100, into: &output)
        appendTwoDigits(day.year % 100, into: &output)
        output.append(ASCII.space)
        appendClock(second, into: &output)
        output.append(" GMT")
    }

    /// Appends a second of the day as `23:59:59`.
    package static func appendClock(_ second: Int, into output: inout [UInt8]) {
        appendTwoDigits(second / 3600, into: &output)
        output.append(ASCII.colon)
        appendTwoDigits(second / 60 % 60, into: &output)
        output.append(ASCII.colon)
        appendTwoDigits(second % 60, into: &output)
    }

    private static let dayNames: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    package static let monthNames: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    // 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z
    private static let earliest: Int64 = -62_167_219_200
    private static let latest: Int64 = 253_402_300_799

    package static func appendTwoDigits(_ number: Int, into output: inout [UInt8]) {
        output.append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        output.append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }

    // MARK: Reading

    /// Returns the time of an IMF-fixdate or of the obsolete RFC 850 and asctime forms; nil for other text.
    ///
    /// A two-digit year that would be more than 50 years after `now` is in the past. The day's name is not compared
    /// with the date, case is ignored, and a leap second counts as the second before it.
    package static func unixSeconds(_ text: String, now: Int64) -> Int64? {
        unixSeconds(text.utf8Bytes.span, now: now)
    }

    /// Returns the time of a date in one of the three forms; nil for other text.
    package static func unixSeconds(_ text: Span<UInt8>, now: Int64) -> Int64? {
        guard text.count <= 40 else { return nil }
        var reader = Reader()
        let date = reader.date(text, now: now)
        return reader.position == text.count ? date : nil
    }

    /// Reads the parts of a date in order; each is nil if it is malformed.
    private struct Reader {
        private(set) var position = 0

        mutating func date(_ text: Span<UInt8>, now: Int64) -> Int64? {
            while position < text.count, ASCII.isLetter(text[position]) { position += 1 }
            guard position >= 3 else { return nil }
            guard literal(", ", text) else { return literal(" ", text) ? asctime(text) : nil }
            guard let day = digits(2, text) else { return nil }
            return literal("-", text) ? rfc850(day, text, now: now) : fixdate(day, text)
        }

        // IMF-fixdate, from behind the day: 06 Nov 1994 08:49:37 GMT
        private mutating func fixdate(_ day: Int, _ text: Span<UInt8>) -> Int64? {
            guard literal(" ", text), let month = month(text), literal(" ", text), let year = digits(4, text),
                literal(" ", text), let time = time(text), literal(" GMT", text)
            else { return nil }
            return Self.seconds(year, month, day, time)
        }

        // rfc850-date, from behind the hyphen after the day: 06-Nov-94 08:49:37 GMT
        private mutating func rfc850(_ day: Int, _ text: Span<UInt8>, now: Int64) -> Int64? {
            guard let month = month(text), literal("-", text), let shortYear = digits(2, text),
                literal(" ", text), let time = time(text), literal(" GMT", text)
            else { return nil }
            let thisYear = CivilDate(daysSinceEpoch: floorDivide(now, 86_400)).year
            var year = thisYear - thisYear % 100 + shortYear
            if year > thisYear + 50 { year -= 100 }
            return Self.seconds(year, month, day, time)
        }

        // asctime-date, from behind the day's name: Nov  6 08:49:37 1994
        private mutating func asctime(_ text: Span<UInt8>) -> Int64? {
            guard let month = month(text), literal(" ", text),
                let day = literal(" ", text) ? digits(1, text) : digits(2, text), literal(" ", text),
                let time = time(text), literal(" ", text), let year = digits(4, text)
            else { return nil }
            return Self.seconds(year, month, day, time)
        }

        private mutating func time(_ text: Span<UInt8>) -> Int64? {
            guard let hour = digits(2, text), hour < 24, literal(":", text),
                let minute = digits(2, text), minute < 60, literal(":", text),
                let second = digits(2, text), second <= 60
            else { return nil }
            return Int64(hour * 3600 + minute * 60 + min(second, 59))
        }

        private mutating func digits(_ count: Int, _ text: Span<UInt8>) -> Int? {
            guard text.count - position >= count else { return nil }
            var number = 0
            for index in position..<position + count {
                guard ASCII.isDigit(text[index]) else { return nil }
                number = number * 10 + Int(text[index] - 0x30)
            }
            position += count
            return number
        }

        /// Reads the name of a month; returns 1 to 12.
        private mutating func month(_ text: Span<UInt8>) -> Int? {
            for (index, name) in HTTPDate.monthNames.enumerated() where literal(name, text) {
                return index + 1
            }
            return nil
        }

        private mutating func literal(_ expected: StaticString, _ text: Span<UInt8>) -> Bool {
            let end = position + expected.utf8CodeUnitCount
            guard end <= text.count, text.extracting(position..<end).equalsIgnoringCase(expected) else {
                return false
            }
            position = end
            return true
        }

        private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int64) -> Int64? {
            guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
            return date.daysSinceEpoch * 86_400 + time
        }
    }
}

// MARK: - The calendar

/// A day of the Gregorian calendar with its number since 1970-01-01.
package struct CivilDate {
    package let year: Int
    package let month: Int
    package let day: Int
    package let daysSinceEpoch: Int64

    /// The day of the week, 0 for Sunday.
    var weekday: Int { Int((daysSinceEpoch % 7 + 11) % 7) }

    // Years begin in March, so that the leap day is the last of its year. An era is 400 years, always 146,097 days.
    // 0000-03-01 is 719,468 days before the epoch.

    package init(daysSinceEpoch: Int64) {
        self.daysSinceEpoch = daysSinceEpoch
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    /// Makes the day with this date; nil if there is none.
    init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let fromMarch = Int64(month > 2 ? year : year - 1)
        let era = floorDivide(fromMarch, 400)
        let yearOfEra = fromMarch - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.init(daysSinceEpoch: era * 146_097 + dayOfEra - 719_468)
        // A day that the month does not have results in another date.
        guard self.year == year, self.month == month, self.day == day else { return nil }
    }
}

/// Divides and rounds towards minus infinity.
package func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
}
