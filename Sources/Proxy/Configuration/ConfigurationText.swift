internal import Yams

/// Parses YAML into nodes with positions; the only file that uses Yams.
///
/// Anchors and aliases are refused, so the size of the text bounds the number of nodes.
struct ConfigurationText {
    /// The maximum size of the text, in bytes.
    static let sizeMax = 1 << 20
    /// The maximum nesting depth; the settings need five.
    private static let depthMax = 32
    private static let repeatedKeysMax = 64

    private static let noAliases =
        "anchors and aliases are not supported: expected the value itself, in quotes if it begins with & or *"

    private(set) var problems: [ConfigurationError.Problem] = []
    /// The covers of what may be anchors and aliases, if the text may have anchors.
    private var covered: CoveredMarks?
    /// The place of the first anchor or alias.
    private var alias: ConfigurationNode.Position?
    /// Maps the masked forms of repeated keys to the keys.
    private var masked: [String: String] = [:]

    /// Returns the root of the document, or nil after reporting why there is none.
    mutating func parse(_ text: String) -> ConfigurationNode? {
        guard text.utf8.count <= Self.sizeMax else {
            report("the file is larger than 1MiB: expected a smaller configuration")
            return nil
        }
        covered = CoveredMarks(text)
        guard let root = compose(covered?.text ?? text) else { return nil }
        let node = convert(root, depth: 0)
        if let alias {
            report(Self.noAliases, at: alias)
            return nil
        }
        if case .nothing = node.content {
            report("the file is empty: expected at least upstream.urls")
            return nil
        }
        return node
    }

    private mutating func report(
        _ text: String, at position: ConfigurationNode.Position = .init(line: 1, column: 1)
    ) {
        problems.append(.init(line: max(position.line, 1), column: max(position.column, 1), text: text))
    }

    // MARK: Composing

    /// Composes the text and masks one repeated key after another, since Yams stops at the first.
    private mutating func compose(_ source: String) -> Node? {
        var text = source
        for attempt in 0...Self.repeatedKeysMax {
            do {
                // Without a resolver, every scalar keeps its text: `off`, `1.0` and `5m` alike.
                guard let node = try Yams.compose(yaml: text, .basic, .default, .utf8) else {
                    report("the file is empty: expected at least upstream.urls")
                    return nil
                }
                return node
            } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
                let key = duplicates.first ?? ""
                guard attempt < Self.repeatedKeysMax,
                    let next = mask(key, at: context.mark, in: text, attempt)
                else {
                    report(Self.repeated(key), at: Self.position(of: context.mark))
                    return nil
                }
                text = next
            } catch {
                report(error, in: text)
                return nil
            }
        }
        return nil
    }

    private static func repeated(_ key: String) -> String {
        "\(key.shortened) is given twice: expected each key once"
    }

    /// Returns the text with the key at `mark` replaced by as many private-use characters.
    private mutating func mask(_ key: String, at mark: Mark, in text: String, _ attempt: Int) -> String? {
        var scalars = Array(text.unicodeScalars)
        var start = 0
        for _ in 1..<max(mark.line, 1) {
            guard let end = scalars[start...].firstIndex(of: "\n") else { return nil }
            start = end + 1
        }
        start += mark.column - 1
        if start < scalars.count, scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
        let name = Array(key.unicodeScalars)
        guard !name.isEmpty, start + name.count <= scalars.count,
            name.elementsEqual(scalars[start..<start + name.count]),
            let first = Unicode.Scalar(UInt32(0xE001 + attempt))
        else { return nil }
        let cover = [first] + Array(repeating: "\u{E000}", count: name.count - 1)
        scalars.replaceSubrange(start..<start + name.count, with: cover)
        masked[String(String.UnicodeScalarView(cover))] = masked[key] ?? key
        return String(String.UnicodeScalarView(scalars))
    }

    private mutating func report(_ error: any Error, in text: String) {
        if let anchor = covered?.anchor { report(Self.noAliases, at: anchor) }
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            if problem == "but found another document" {
                report("a second document begins here: expected one document", at: Self.position(of: mark))
            } else {
                let words = [context?.text.trimmedSpaces, problem].compactMap(\.self).joined(separator: ": ")
                report(
                    "invalid YAML (\(words.shortened(to: 120))): expected \(Self.remedy(words, context, mark, text))",
                    at: Self.position(of: mark))
            }
        case YamlError.reader(let problem, _, _, _):
            report("the file is not text (\(problem.shortened)): expected UTF-8")
        default:
            report("the file cannot be parsed: expected YAML")
        }
    }

    /// Returns the advice for a character that YAML interprets in an unintended way.
    private static func remedy(
        _ words: String, _ context: YamlError.Context?, _ mark: Mark, _ text: String
    ) -> String {
        if words.contains("alias") {
            return "quotes around a value that begins with *, which stands for an alias in YAML"
        }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let line = mark.line >= 1 && mark.line <= lines.count ? lines[mark.line - 1].unicodeScalars : .init()
        let before = line.prefix(max(mark.column - 1, 0))
        let first = line.dropFirst(before.count).first
        switch first {
        case ":" where before.contains(":"): return "quotes around a value with a colon"
        case "\t": return "spaces instead of the tab, since YAML does not indent with tabs"
        case "@", "`", "%": return "quotes around a value that begins with this character"
        default: break
        }
        for closing in ["]", "}"] where words.contains("or '\(closing)'") {
            let place = context.map { " that begins in line \($0.mark.line)" } ?? ""
            return "`,` or `\(closing)` here, in the \(closing == "]" ? "list" : "mapping")\(place)"
        }
        // A key that is too deep continues the value above, up to its colon.
        let isIndentation = first == ":" || before.allSatisfy { $0 == " " }
        return (isIndentation ? indentation(lines.prefix(max(mark.line, 0))) : nil) ?? "`key: value`"
    }

    /// Returns the advice for a last line whose indentation none of the lines above has; nil for any other.
    private static func indentation(_ lines: ArraySlice<Substring>) -> String? {
        guard let last = lines.last, case let width = last.prefix(while: { $0 == " " }).count,
            width < last.count
        else { return nil }
        var widths: Set<Int> = []
        var inner = Int.max
        for line in lines.dropLast().reversed() {
            let content = line.drop { $0 == " " }
            var column = line.count - content.count
            guard let first = content.first, first != "#", column < inner else { continue }
            inner = column
            widths.insert(column)
            // The keys of a mapping in a list are as deep as the first of them.
            var rest = content
            while rest.hasPrefix("- ") {
                let item = rest.dropFirst().drop { $0 == " " }
                column += rest.count - item.count
                widths.insert(column)
                rest = item
            }
        }
        guard !widths.isEmpty, !widths.contains(width) else { return nil }
        let choices = widths.sorted().map(String.init)
        let listed = ([choices.dropLast().joined(separator: ", ")].filter { !$0.isEmpty } + choices.suffix(1))
            .joined(separator: " or ")
        return "an indentation of \(listed) spaces, as a line above has, instead of \(width)"
    }

    // MARK: Converting

    private static func position(of mark: Mark?) -> ConfigurationNode.Position {
        .init(line: mark?.line ?? 1, column: mark?.column ?? 1)
    }

    /// Reports a tag, which would have no effect.
    private mutating func reportTag(of node: Node, at position: ConfigurationNode.Position) {
        guard ![Tag.Name.str, .seq, .map].contains(.init(rawValue: node.tag.rawValue)) else { return }
        report(
            "tags are not supported: expected the value itself, in quotes if it begins with !", at: position)
    }

    private mutating func convert(_ node: Node, depth: Int) -> ConfigurationNode {
        let position = Self.position(of: node.mark)
        reportTag(of: node, at: position)
        guard depth < Self.depthMax else {
            report("nested too deeply: expected at most \(Self.depthMax) levels", at: position)
            return ConfigurationNode(position: position, content: .nothing, textColumn: nil)
        }
        switch node {
        case .scalar(let scalar):
            return convert(scalar, position)
        case .sequence(let sequence):
            let items = sequence.map { convert($0, depth: depth + 1) }
            return ConfigurationNode(position: position, content: .list(items), textColumn: nil)
        case .mapping(let mapping):
            let entries = convert(mapping, depth: depth)
            return ConfigurationNode(position: position, content: .mapping(entries), textColumn: nil)
        case .alias:
            return ConfigurationNode(position: position, content: .nothing, textColumn: nil)
        }
    }

    private mutating func convert(
        _ scalar: Node.Scalar, _ position: ConfigurationNode.Position
    ) -> ConfigurationNode {
        let text = original(scalar, position)
        let column: Int? =
            switch scalar.style {
            case .plain, .any: position.column
            case .singleQuoted, .doubleQuoted: position.column + 1
            case .literal, .folded: nil
            }
        let isNothing = scalar.style == .plain && ["", "~", "null"].contains(text)
        return ConfigurationNode(
            position: position, content: isNothing ? .nothing : .scalar(text), textColumn: column)
    }

    /// Returns a scalar's text as the file has it; notes a plain one that begins with an anchor or an alias.
    private mutating func original(_ scalar: Node.Scalar, _ position: ConfigurationNode.Position) -> String {
        let text = masked[scalar.string] ?? scalar.string
        guard let covered else { return text }
        if scalar.style == .plain, covered.begins(text) { alias = alias ?? position }
        return covered.uncovered(text)
    }

    private mutating func convert(_ mapping: Node.Mapping, depth: Int) -> [ConfigurationNode.Entry] {
        var entries: [ConfigurationNode.Entry] = []
        var seen: Set<String> = []
        for (key, value) in mapping {
            let position = Self.position(of: key.mark)
            reportTag(of: key, at: position)
            guard case .scalar(let scalar) = key else {
                report("this key is not plain text: expected the name of a setting", at: position)
                continue
            }
            let name = original(scalar, position)
            guard seen.insert(name).inserted else {
                report(Self.repeated(name), at: position)
                continue
            }
            entries.append(.init(key: name, position: position, value: convert(value, depth: depth + 1)))
        }
        return entries
    }
}

extension String {
    fileprivate var trimmedSpaces: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
