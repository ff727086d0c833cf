/// A setting in the reference: its prose, key and default.
struct ReferenceLine: Sendable {
    private let key: String
    private let prose: String
    private let expectation: String
    private let value: Value

    private enum Value: Sendable {
        case text(String, isGiven: Bool)
        case lines([ReferenceLine], isItem: Bool, isGiven: Bool)
    }

    /// Returns the lines for a table of settings, with the values of `target`.
    static func lines<Target>(of settings: [Setting<Target>], in target: Target) -> [ReferenceLine] {
        settings.map { setting in
            let value: Value =
                switch setting.sample(target) {
                case .value(let text, let isGiven): .text(text, isGiven: isGiven)
                case .section(let lines, let isItem, let isGiven):
                    .lines(lines, isItem: isItem, isGiven: isGiven)
                }
            return ReferenceLine(
                key: setting.key, prose: setting.prose, expectation: setting.expectation, value: value)
        }
    }

    /// Returns the YAML of the lines, `indent` levels deep; empty lines separate them at the top level.
    static func yaml(_ lines: [ReferenceLine], indent: Int = 0) -> [String] {
        lines.flatMap { line in line.yaml(indent: indent) + (indent == 0 ? [""] : []) }
    }

    private func yaml(indent: Int) -> [String] {
        let margin = String(repeating: "  ", count: indent)
        switch value {
        case .text(let text, let isGiven):
            let takes = Self.comment("Takes \(expectation).", margin)
            let mark = isGiven ? "" : "# "
            let body = text.isEmpty ? "\(mark)\(key):" : "\(mark)\(key): \(text)"
            return Self.comment(prose, margin) + takes + [margin + body]
        case .lines(let lines, let isItem, let isGiven):
            var inner = Self.yaml(lines, indent: indent + (isItem ? 2 : 1)).filter { !$0.isEmpty }
            if isItem, let first = inner.firstIndex(where: { !$0.trimmed.hasPrefix("#") }) {
                // The dash goes before the item's first key; the comments above that stay.
                inner[first] = margin + "  - " + inner[first].trimmed
            }
            guard isGiven else {
                return Self.comment(prose, margin) + ["\(margin)# \(key):"] + inner.map(\.commentedOut)
            }
            return Self.comment(prose, margin) + ["\(margin)\(key):"] + inner
        }
    }

    /// Wraps a text into comment lines of at most 100 columns.
    private static func comment(_ text: String, _ margin: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, margin.count + line.count + word.count + 3 > 100 {
                lines.append("\(margin)# \(line)")
                line = ""
            }
            line += line.isEmpty ? word : " " + word
        }
        return lines + ["\(margin)# \(line)"]
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }

    /// The line as a comment, with its margin.
    fileprivate var commentedOut: String {
        let text = trimmed
        return text.hasPrefix("#") ? self : String(repeating: " ", count: count - text.count) + "# " + text
    }
}
