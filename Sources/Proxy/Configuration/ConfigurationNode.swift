/// One value of the configuration's text, and where it stands.
struct ConfigurationNode: Sendable {
    /// A place in the text; both numbers count from 1, columns in Unicode scalars.
    struct Position: Sendable, Equatable {
        var line: Int
        var column: Int
    }

    /// One key of a mapping with its value.
    struct Entry: Sendable {
        let key: String
        let position: Position
        let value: ConfigurationNode
    }

    /// What YAML says the value is.
    enum Content: Sendable {
        case nothing
        case scalar(String)
        case list([ConfigurationNode])
        case mapping([Entry])
    }

    /// Where the value begins.
    let position: Position
    /// The value.
    let content: Content
    /// The column of a scalar's first character, or nil where text and source do not run side by side.
    let textColumn: Int?

    /// What the value is, for error texts.
    var kind: String {
        switch content {
        case .nothing: "nothing"
        case .scalar(let text): "\"\(text.shortened)\""
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }
}

extension String {
    /// The text on one line and at most 60 characters long, for error texts.
    var shortened: String { shortened(to: 60) }

    /// The text on one line and at most so many characters long, for error texts.
    func shortened(to lengthMax: Int) -> String {
        var line = ""
        for scalar in unicodeScalars {
            // Nothing that ends a line, or that a terminal obeys.
            let isControl =
                scalar.properties.generalCategory == .control
                || "\u{2028}\u{2029}".unicodeScalars.contains(scalar)
            line.unicodeScalars.append(isControl ? " " : scalar)
        }
        return line.count > lengthMax ? String(line.prefix(lengthMax)) + "…" : line
    }
}
