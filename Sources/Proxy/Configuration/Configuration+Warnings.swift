internal import Dictionaries

extension Configuration {
    /// Looks for what is valid and cannot be meant, once all settings are read.
    mutating func findWarnings(_ reader: SettingsReader) {
        warnOfAnnouncements(reader)
        for (place, route) in routes.enumerated() {
            guard let node = reader.node(of: "routes[\(place)].match") else { continue }
            if route.match.patterns.contains(where: \.text.readsLikeRegularExpression) {
                warn(
                    """
                    routes[\(place)].match is \(node.kind) and reads like a regular expression: in a URL Pattern .* is a dot \
                    and what follows it, $ is itself, and * is any text, as in /api/*
                    """, at: node.position)
            }
            guard
                let former = routes[..<place].firstIndex(where: { $0.match.covers(route.match) }),
                let formerNode = reader.node(of: "routes[\(former)].match")
            else { continue }
            warn(
                """
                routes[\(place)].match is \(node.kind) and never reached: the first route that matches counts, and \
                routes[\(former)], \(formerNode.kind) in line \(formerNode.position.line), matches all that this one does
                """, at: node.position)
        }
    }

    /// Adds a warning.
    mutating func warn(_ text: String, at position: ConfigurationNode.Position) {
        warnings.append(.init(line: position.line, column: position.column, text: text))
    }

    /// One line a warning, `FILE:LINE:COLUMN: warning: what`.
    package func warningLines(file: String) -> [String] {
        warnings.map { "\(file):\($0.line):\($0.column): warning: \($0.text)" }
    }
}

extension String {
    /// Whether the text of a match has what only a regular expression needs; one in parentheses is meant.
    fileprivate var readsLikeRegularExpression: Bool {
        !contains("(") && (contains("/.*") || hasSuffix("$"))
    }
}
