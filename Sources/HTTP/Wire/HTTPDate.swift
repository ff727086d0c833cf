/// Writes HTTP dates (RFC 9110 section 5.6.7).
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
        appendTwoDigits(second / 3600, into: &output)
        output.append(ASCII.colon)
        appendTwoDigits(second / 60 % 60, into: &output)
        output.append(ASCII.colon)
        appendTwoDigits(second % 60, into: &output)
        output.append(" GMT")
    }

    static let dayNames: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let monthNames: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    // 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z
    private static let earliest: Int64 = -62_167_219_200
    private static let latest: Int64 = 253_402_300_799

    private static func appendTwoDigits(_ number: Int, into output: inout [UInt8]) {
        output.append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        output.append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}

/// Divides and rounds towards minus infinity.
func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
}
