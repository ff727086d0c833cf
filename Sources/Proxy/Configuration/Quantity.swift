internal import Primitives

/// A kind of number with a unit: the durations and sizes of the configuration.
struct Quantity: Sendable {
    /// The units with their factors, largest first.
    private let units: [(suffix: String, worth: Int)]

    static let count = Quantity(units: [("", 1)])
    /// Durations in milliseconds; the unit is required.
    static let duration = Quantity(units: [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ])
    /// Sizes in bytes; a number without a unit is bytes.
    static let size = Quantity(units: [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1),
    ])

    /// Parses a text; nil if it is invalid or outside `bounds`.
    func value(of text: String, in bounds: ClosedRange<Int>) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        let suffix = text.dropFirst(digits.count)
        guard let number = Int(digits), let unit = units.first(where: { $0.suffix == suffix }) else {
            return nil
        }
        let (value, overflow) = number.multipliedReportingOverflow(by: unit.worth)
        return !overflow && bounds ~= value ? value : nil
    }

    /// Returns the number in front of `%`, with or without a fraction; nil for any other text.
    static func percent(_ text: String) -> Double? {
        let number = text.dropLast()
        guard text.hasSuffix("%"), number.first != ".", number.last != ".",
            number.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(number)
    }

    /// Returns the value in the largest unit that divides it.
    func text(of value: Int) -> String {
        guard value != 0, let unit = units.first(where: { value % $0.worth == 0 }) else {
            return "0\(units.last?.suffix ?? "")"
        }
        return "\(value / unit.worth)\(unit.suffix)"
    }
}

/// Parses durations in the form of the configuration.
package enum DurationText {
    /// Returns the whole seconds of a text such as `90s` or `7d`; nil if it is invalid.
    package static func seconds(_ text: String) -> Int? {
        Quantity.duration.value(of: text, in: 0...Int.max).map { $0 / 1000 }
    }
}
