extension HTTPDate {
    /// Returns the Unix time of an IMF-fixdate or of the obsolete RFC 850 and asctime forms; nil for other
    /// text.
    ///
    /// A two-digit year that would be more than 50 years after `now` is in the past. The day's name is not
    /// compared with the date.
    package static func unixSeconds(_ text: Span<UInt8>, now: Int64) -> Int64? {
        var reader = Reader(position: 0)
        let date = reader.date(text, now: now)
        return reader.position == text.count ? date : nil
    }

    package static func unixSeconds(_ text: String, now: Int64) -> Int64? {
        unixSeconds(text.utf8.span, now: now)
    }

    /// Reads the parts of a date in order; each is nil if it is malformed.
    private struct Reader {
        var position: Int

        mutating func date(_ text: Span<UInt8>, now: Int64) -> Int64? {
            guard let weekday = name(of: HTTPDate.dayNames, text) else { return nil }
            if literal(", ", text) { return fixdate(text) }
            if literal(" ", text) { return asctime(text) }
            guard literal(Self.dayEndings[weekday], text), literal(", ", text) else { return nil }
            return obsolete(text, now: now)
        }

        // IMF-fixdate: 06 Nov 1994 08:49:37 GMT
        private mutating func fixdate(_ text: Span<UInt8>) -> Int64? {
            guard let day = digits(2, text), literal(" ", text),
                let month = name(of: HTTPDate.monthNames, text), literal(" ", text),
                let year = digits(4, text), literal(" ", text),
                let time = time(text), literal(" GMT", text)
            else { return nil }
            return Self.seconds(year, month + 1, day, time)
        }

        // rfc850-date: 06-Nov-94 08:49:37 GMT
        private mutating func obsolete(_ text: Span<UInt8>, now: Int64) -> Int64? {
            guard let day = digits(2, text), literal("-", text),
                let month = name(of: HTTPDate.monthNames, text), literal("-", text),
                let shortYear = digits(2, text), literal(" ", text),
                let time = time(text), literal(" GMT", text)
            else { return nil }
            let thisYear = CivilDate(daysSinceEpoch: floorDivide(now, 86_400)).year
            var year = thisYear - thisYear % 100 + shortYear
            if year > thisYear + 50 { year -= 100 }
            return Self.seconds(year, month + 1, day, time)
        }

        // asctime-date: Nov  6 08:49:37 1994
        private mutating func asctime(_ text: Span<UInt8>) -> Int64? {
            guard let month = name(of: HTTPDate.monthNames, text), literal(" ", text),
                let day = literal(" ", text) ? digits(1, text) : digits(2, text), literal(" ", text),
                let time = time(text), literal(" ", text),
                let year = digits(4, text)
            else { return nil }
            return Self.seconds(year, month + 1, day, time)
        }

        private mutating func time(_ text: Span<UInt8>) -> Int64? {
            guard let hour = digits(2, text), hour < 24, literal(":", text),
                let minute = digits(2, text), minute < 60, literal(":", text),
                let second = digits(2, text), second <= 60  // a leap second
            else { return nil }
            return Int64(hour * 3600 + minute * 60 + second)
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

        private mutating func name(of names: [StaticString], _ text: Span<UInt8>) -> Int? {
            for (index, name) in names.enumerated() where literal(name, text) { return index }
            return nil
        }

        private mutating func literal(_ expected: StaticString, _ text: Span<UInt8>) -> Bool {
            let end = position + expected.utf8CodeUnitCount
            guard end <= text.count, text.extracting(position..<end).equals(expected) else { return false }
            position = end
            return true
        }

        private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int64) -> Int64? {
            guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
            return date.daysSinceEpoch * 86_400 + time
        }

        private static let dayEndings: [StaticString] = [
            "day", "day", "sday", "nesday", "rsday", "day", "urday",
        ]
    }
}
