internal import Foundation

/// How facts of a store are written for people and for programs.
enum StoreText {
    /// A time in seconds since 1970.
    static func time(_ seconds: Int) -> String {
        // Beyond the year 9999 there is no such form; a row changed by hand may say so.
        Date(timeIntervalSince1970: Double(min(seconds, 253_402_300_799))).formatted(.iso8601)
    }

    /// A number of bytes, to a tenth of its unit.
    static func size(_ bytes: Int) -> String {
        var value = Double(bytes)
        var unit = "B"
        for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
            value /= 1024
            unit = larger
        }
        return unit == "B" ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(unit)"
    }

    /// A number with its noun.
    static func count(_ number: Int, _ noun: String) -> String {
        if number == 1 { return "1 \(noun)" }
        return "\(number) \(noun == "body" ? "bodies" : noun + "s")"
    }

    /// Text that came from outside, without what a terminal would act upon.
    static func plain(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                    ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            }.joined())
    }

    /// Lines of columns, each as wide as its widest cell; nothing behind the last.
    static func table(_ rows: [[String]]) -> String {
        let cells = rows.map { $0.map(plain) }
        let columns = cells.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            cells.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return cells.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1
                    ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// One JSON object on one line.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and switches are all there is, and those cannot fail to encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
