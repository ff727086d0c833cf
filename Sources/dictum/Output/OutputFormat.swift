internal import Foundation
internal import Proxy

/// Formats of the commands' output, for people and for programs.
enum OutputFormat {
    /// Returns the ISO 8601 form of a time in seconds since 1970.
    static func time(_ seconds: Int) -> String {
        // There is no such form after the year 9999; a row edited by hand may have a later time.
        Date(timeIntervalSince1970: Double(min(seconds, 253_402_300_799))).formatted(.iso8601)
    }

    /// Returns a time with its largest fitting unit, rounded down.
    static func duration(_ seconds: Int) -> String {
        switch seconds {
        case 172_800...: "\(seconds / 86_400) days"
        case 7_200...: "\(seconds / 3_600) hours"
        case 120...: "\(seconds / 60) minutes"
        default: "\(seconds) s"
        }
    }

    /// Returns a number of bytes with its unit, rounded to a tenth; the units are multiples of `base`.
    static func size(
        _ bytes: Int, base: Double = 1024, units: [String] = ["KiB", "MiB", "GiB", "TiB"]
    ) -> String {
        var value = Double(bytes)
        var unit = "B"
        for larger in units where value >= base {
            value /= base
            unit = larger
        }
        return unit == "B" ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(unit)"
    }

    /// Returns a number with a comma before every three digits.
    static func grouped(_ number: Int) -> String {
        number.formatted(.number.locale(Locale(identifier: "en_US")))
    }

    /// Returns a number with its noun in singular or plural.
    static func count(_ number: Int, _ noun: String) -> String {
        if number == 1 { return "1 \(noun)" }
        return "\(number) \(noun == "body" ? "bodies" : noun + "s")"
    }

    /// Escapes control characters in text from outside, which a terminal might obey.
    static func plain(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                    ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            }.joined())
    }

    /// Aligns rows in columns, to the left or to the right; nothing follows the last cell.
    static func table(_ rows: [[String]], alignsRight: Bool = false) -> String {
        let cells = rows.map { $0.map(plain) }
        let columns = cells.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            cells.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return cells.map { row in
            row.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                return alignsRight ? blanks + cell : column == row.count - 1 ? cell : cell + blanks
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Returns a JSON object on one line, with keys in snake case.
    static func json(_ value: some Encodable) -> String { JSONEncoder.line(value) ?? "{}" }
}
