/// The expected statuses of a response: `200`, `2xx` or `200-399`.
package struct ExpectedStatus: Sendable, Equatable, CustomStringConvertible {
    private let range: ClosedRange<Int>

    package static let success = ExpectedStatus(range: 200...299)

    private init(range: ClosedRange<Int>) {
        self.range = range
    }

    /// Parses a status, a class or a range.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.status($0) }
        if text.utf8.count == 3, text.hasSuffix("xx"), let first = text.first?.wholeNumberValue,
            2...5 ~= first
        {
            range = first * 100...first * 100 + 99
        } else if parts.count == 1, let status = parts[0] {
            range = status...status
        } else if parts.count == 2, let from = parts[0], let to = parts[1], from <= to {
            range = from...to
        } else {
            return nil
        }
    }

    /// Returns a final status.
    private static func status(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let status = Int(text),
            200...599 ~= status
        else { return nil }
        return status
    }

    package func contains(_ status: Int) -> Bool { range ~= status }

    package var description: String {
        if range.lowerBound == range.upperBound { return String(range.lowerBound) }
        let isClass = range.lowerBound % 100 == 0 && range.upperBound == range.lowerBound + 99
        return isClass ? "\(range.lowerBound / 100)xx" : "\(range.lowerBound)-\(range.upperBound)"
    }
}

extension SettingType where Value == ExpectedStatus {
    static let expectedStatus = scalar(
        "a status such as 200, a class such as 2xx, or a range such as 200-399",
        write: { $0.description }, read: { ExpectedStatus($0) })
}
