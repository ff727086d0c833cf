/// The value of a setting in a form that is written as YAML: one that is in effect, or that of the reference.
indirect enum SettingValue: Sendable {
    static let redacted = "(redacted)"

    struct Member: Sendable {
        let key: String
        let value: SettingValue
        /// The paragraphs above it.
        var comment: [String] = []
        /// False for a member that is commented out.
        var isGiven = true

        /// Returns the lines of the member, `indent` levels deep.
        func yaml(indent: Int) -> [String] {
            let margin = String(repeating: "  ", count: indent)
            let lines: [String] =
                if case .text(let text) = value {
                    [margin + key + ":" + (text.isEmpty ? "" : " " + text)]
                } else {
                    [margin + key + ":"] + value.yaml(indent: indent + 1)
                }
            return comment.flatMap { Self.wrapped($0, margin) }
                + (isGiven ? lines : lines.map(\.commentedOut))
        }

        /// Wraps a text into comment lines of at most 100 columns.
        private static func wrapped(_ text: String, _ margin: String) -> [String] {
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

    /// YAML on one line; empty for a setting without a value.
    case text(String)
    case section([Member])
    case items([SettingValue])

    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .section(let members): members.isEmpty
        case .items(let items): items.isEmpty
        }
    }

    /// Returns the lines of a block, `indent` levels deep.
    func yaml(indent: Int) -> [String] {
        let margin = String(repeating: "  ", count: indent)
        switch self {
        case .text(let text): return [margin + text]
        case .section(let members): return members.flatMap { $0.yaml(indent: indent) }
        case .items(let items):
            return items.flatMap { item in
                var lines = item.yaml(indent: indent + 1)
                // The dash goes before the item's first key; the comments above that stay.
                if let first = lines.firstIndex(where: { !$0.trimmed.hasPrefix("#") }) {
                    lines[first] = margin + "- " + lines[first].trimmed
                }
                return lines
            }
        }
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
