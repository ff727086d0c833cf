internal import Dictionaries

extension Configuration {
    /// Warns about settings that are valid but probably a mistake, after all have been read.
    mutating func findWarnings(_ reader: SettingsReader) {
        warnOfAnnouncements(reader)
        for (place, route) in routes.enumerated() {
            guard let node = reader.node(of: "routes[\(place)].match") else { continue }
            if route.match.patterns.contains(where: \.text.readsLikeRegularExpression) {
                warn(
                    """
                    routes[\(place)].match is \(node.kind) and looks like a regular expression: in a URL Pattern, * matches any \
                    text, as in /api/*, while . and $ match themselves
                    """, at: node.position)
            }
            guard
                let former = routes[..<place].firstIndex(where: { $0.match.covers(route.match) }),
                let formerNode = reader.node(of: "routes[\(former)].match")
            else { continue }
            warn(
                """
                routes[\(place)].match is \(node.kind) and never reached: the first route that matches counts, and \
                routes[\(former)], \(formerNode.kind) in line \(formerNode.position.line), matches everything that this one matches
                """, at: node.position)
        }
    }

    /// Adds a warning.
    mutating func warn(_ text: String, at position: ConfigurationNode.Position) {
        warnings.append(.init(line: position.line, column: position.column, text: text))
    }

    /// Returns the warnings as lines of the form `FILE:LINE:COLUMN: warning: TEXT`.
    package func warningLines(file: String) -> [String] {
        warnings.map { "\(file):\($0.line):\($0.column): warning: \($0.text)" }
    }
}

extension String {
    /// True if the text contains what only regular expressions need; parentheses are a legitimate part of
    /// patterns.
    fileprivate var readsLikeRegularExpression: Bool {
        !contains("(") && (contains("/.*") || hasSuffix("$"))
    }
}
