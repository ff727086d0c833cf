/// The demo's table: one row a fetch, aligned as it grows.
struct DemoTable {
    /// What one fetch cost.
    struct Row {
        let coding: String
        let bodyBytes: Int
        let gzipBytes: Int
        let wireBytes: Int
    }

    private static let widths = [5, 8, 12, 14, 12, 7]
    private(set) var rows: [Row] = []

    /// The titles of the columns.
    static let title = line(["fetch", "coding", "body", "gzip would be", "on the wire", "saved"])

    /// Adds a fetch and returns its line.
    mutating func add(_ row: Row) -> String {
        rows.append(row)
        return Self.line([String(rows.count), row.coding] + Self.numbers(row))
    }

    /// The sums, under a rule.
    var total: String {
        let sum = Row(
            coding: "", bodyBytes: rows.reduce(0) { $0 + $1.bodyBytes },
            gzipBytes: rows.reduce(0) { $0 + $1.gzipBytes }, wireBytes: rows.reduce(0) { $0 + $1.wireBytes })
        let rule = Self.line(Self.widths.map { String(repeating: "-", count: $0) })
        return rule + "\n" + Self.line(["all", ""] + Self.numbers(sum))
    }

    /// What it comes to: how much less than gzip the fetches took that had a dictionary; nil where that is not so.
    var summary: String? {
        let deltas = rows.filter { $0.coding == "dcz" || $0.coding == "dcb" }
        let wire = deltas.reduce(0) { $0 + $1.wireBytes }
        let gzip = deltas.reduce(0) { $0 + $1.gzipBytes }
        guard wire > 0, gzip >= 2 * wire else { return nil }
        return "With a dictionary a fetch took \(Self.grouped(gzip / wire)) times fewer bytes than with gzip."
    }

    private static func numbers(_ row: Row) -> [String] {
        let saved = FetchReport.percentText(body: row.bodyBytes, wire: row.wireBytes)
        return [row.bodyBytes, row.gzipBytes, row.wireBytes].map(grouped) + [saved]
    }

    /// The second column is a word and begins on the left, the others are numbers and end on the right.
    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 1 ? " \(cell.0)\(blanks)" : blanks + cell.0
        }
        .joined(separator: " ")
    }

    /// A number with a comma before every three digits.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
