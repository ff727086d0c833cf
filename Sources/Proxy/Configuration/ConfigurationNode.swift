struct ConfigurationNode: Sendable {
    /// A position in the text; lines and columns (Unicode scalars) count from 1.
    struct Position: Sendable, Equatable {
        var line: Int
        var column: Int
    }

    struct Entry: Sendable {
        let key: String
        let position: Position
        let value: ConfigurationNode
    }

    enum Content: Sendable {
        case nothing
        case scalar(String)
        case list([ConfigurationNode])
        case mapping([Entry])
    }

    /// The position of its first character.
    let position: Position
    let content: Content
    /// The column of a scalar's first character; nil if the text differs from its source, as with folded blocks.
    let textColumn: Int?

    /// The items of a list; none of any other value.
    var items: [ConfigurationNode] { if case .list(let items) = content { items } else { [] } }

    /// The value as error texts quote it.
    var kind: String {
        switch content {
        case .nothing: "nothing"
        case .scalar(let text): "\"\(text.withoutUserInformation.shortened)\""
        // Where another number is expected, "a list" alone would say that it should be a list.
        case .list(let items): items.isEmpty ? "an empty list" : "a list of \(items.count)"
        case .mapping(let entries): entries.isEmpty ? "an empty mapping" : "a mapping"
        }
    }
}

extension String {
    /// The text with all between `://` and the last `@` replaced: a password in a mistaken URL has any characters.
    fileprivate var withoutUserInformation: String {
        guard let start = firstRange(of: "://")?.upperBound, let mark = self[start...].lastIndex(of: "@")
        else { return self }
        return self[..<start] + SettingValue.redacted + self[mark...]
    }

    /// The text on one line, at most 60 characters long, for error texts.
    var shortened: String { shortened(to: 60) }

    /// Returns the text on one line, at most `lengthMax` characters long.
    func shortened(to lengthMax: Int) -> String {
        var line = ""
        for scalar in unicodeScalars {
            // This covers line ends and everything that terminals interpret.
            let isControl =
                scalar.properties.generalCategory == .control
                || "\u{2028}\u{2029}".unicodeScalars.contains(scalar)
            line.unicodeScalars.append(isControl ? " " : scalar)
        }
        return line.count > lengthMax ? String(line.prefix(lengthMax)) + "…" : line
    }
}
