internal import Dictionaries

/// The demo's table: one aligned row per fetch.
struct DemoTable {
    struct Row {
        let coding: String
        let bodyBytes: Int
        let gzipBytes: Int
        let wireBytes: Int
    }

    private static let widths = [5, 8, 12, 14, 12, 7]
    private(set) var rows: [Row] = []

    static let title = line(["fetch", "coding", "body", "gzip would be", "on the wire", "saved"])

    mutating func add(_ row: Row) -> String {
        rows.append(row)
        return Self.line([String(rows.count), row.coding] + Self.numbers(row))
    }

    /// The totals, below a rule.
    var total: String {
        let sum = Row(
            coding: "", bodyBytes: rows.reduce(0) { $0 + $1.bodyBytes },
            gzipBytes: rows.reduce(0) { $0 + $1.gzipBytes }, wireBytes: rows.reduce(0) { $0 + $1.wireBytes })
        let rule = Self.line(Self.widths.map { String(repeating: "-", count: $0) })
        return rule + "\n" + Self.line(["all", ""] + Self.numbers(sum))
    }

    /// A sentence that compares fetches that had a dictionary with gzip; nil if they took more than half of
    /// gzip's bytes.
    var summary: String? {
        let deltas = rows.filter { ContentCoding(rawValue: $0.coding)?.usesDictionary == true }
        let wire = deltas.reduce(0) { $0 + $1.wireBytes }
        let gzip = deltas.reduce(0) { $0 + $1.gzipBytes }
        guard wire > 0, gzip >= 2 * wire else { return nil }
        return
            "With a dictionary, a fetch took \(OutputFormat.grouped(gzip / wire)) times fewer bytes than with gzip."
    }

    private static func numbers(_ row: Row) -> [String] {
        let saved = FetchReport.percentText(body: row.bodyBytes, wire: row.wireBytes)
        return [row.bodyBytes, row.gzipBytes, row.wireBytes].map(OutputFormat.grouped) + [saved]
    }

    /// Aligns the second column, a word, to the left and the numbers to the right.
    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 1 ? " \(cell.0)\(blanks)" : blanks + cell.0
        }
        .joined(separator: " ")
    }

}
