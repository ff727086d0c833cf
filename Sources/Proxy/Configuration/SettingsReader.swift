internal import Primitives

/// Reads settings from nodes, expands `${NAME}` and collects errors.
struct SettingsReader {
    /// The values of `${NAME}`.
    let environment: [String: String]
    private(set) var problems: [ConfigurationError.Problem] = []
    /// The keys that lead to the current value, such as `routes[1].dictionary`.
    private var path: [String] = []
    /// The nodes of the settings that were given, by dotted path.
    private var nodes: [String: ConfigurationNode] = [:]

    init(environment: [String: String]) {
        self.environment = environment
    }

    /// Returns the dotted path of `key` below the current value.
    private func name(of key: String) -> String {
        (path + (key.isEmpty ? [] : [key])).joined(separator: ".").replacing(".[", with: "[")
    }

    func hasProblem(inLine line: Int) -> Bool { problems.contains { $0.line == line } }

    mutating func report(_ text: String, at position: ConfigurationNode.Position) {
        problems.append(.init(line: position.line, column: position.column, text: text))
    }

    mutating func reportUnexpected(_ node: ConfigurationNode, expected: String, because reason: String? = nil)
    {
        let what = node.kind
        let why = reason.map { " (\($0))" } ?? ""
        report(
            "\(path.isEmpty ? "the file" : name(of: "")) is \(what)\(why): expected \(expected)",
            at: node.position)
    }

    /// Reports an error within a text, `offset` characters in.
    mutating func report(_ text: String, in node: ConfigurationNode, offset: Int) {
        var position = node.position
        if let column = node.textColumn { position.column = column + offset }
        report("\(name(of: "")): \(text)", at: position)
    }

    /// Reports an error within the text of `key` below the current value, if that was given.
    mutating func report(_ text: String, of key: String, offset: Int = 0) {
        guard let node = node(of: key) else { return }
        descend(key) { $0.report(text, in: node, offset: offset) }
    }

    /// Runs `body` with `key` as the current value.
    mutating func descend<Result>(_ key: String, _ body: (inout SettingsReader) -> Result) -> Result {
        path.append(key)
        defer { path.removeLast() }
        return body(&self)
    }

    /// Returns the node of `key` below the current value, if it was given.
    func node(of key: String) -> ConfigurationNode? {
        nodes[name(of: key)]
    }

    /// Returns the position of the first of some keys that was given; without one, the beginning of the file.
    func position(of keys: String...) -> ConfigurationNode.Position {
        keys.lazy.compactMap { node(of: $0) }.first?.position ?? .init(line: 1, column: 1)
    }

    /// Reads a mapping into `target` according to a table of settings.
    ///
    /// An empty value counts as an empty mapping, since all lines of a section may be commented out.
    mutating func read<Target>(
        _ node: ConfigurationNode, by settings: [Setting<Target>], into target: inout Target,
        expected: String? = nil, example: String? = nil
    ) {
        let entries: [ConfigurationNode.Entry]
        switch node.content {
        case .nothing: entries = []
        case .mapping(let given): entries = given
        case .scalar, .list:
            reportUnexpected(node, expected: expected ?? "a mapping of " + settings.map(\.key).listed)
            return
        }
        for entry in entries {
            guard let setting = settings.first(where: { $0.key == entry.key }) else {
                reportUnknown(entry, known: settings.map(\.key))
                continue
            }
            nodes[name(of: entry.key)] = entry.value
            descend(entry.key) { setting.read(entry, &$0, &target) }
        }
        for setting in settings
        where setting.isRequired && !entries.contains(where: { $0.key == setting.key }) {
            let such = example.map { ", as in \(name(of: "")): \($0)" } ?? ""
            report(
                "\(name(of: setting.key)) is missing: expected \(setting.expectation)\(such)",
                at: node.position)
        }
    }

    private mutating func reportUnknown(_ entry: ConfigurationNode.Entry, known: [String]) {
        let path = name(of: entry.key)
        let help =
            FormerKeys.help(entry.key, path: path) ?? Self.home(of: entry.key, in: self.path)
            ?? entry.key.nearest(in: known).map { "did you mean \"\($0)\"?" }
            ?? "expected one of \(known.listed)"
        report("unknown key \"\(path.shortened)\": \(help)", at: entry.position)
    }

    /// Returns the advice to indent a key of an inner section; nil for any other.
    private static func home(of key: String, in path: [String]) -> String? {
        let inner =
            path.isEmpty
            ? [
                ("routes[]", Settings.route.map(\.key)),
                ("routes[].dictionary", Settings.dictionary.map(\.key)),
                ("upstream", Settings.upstream.map(\.key)), ("listeners[]", Settings.listener.map(\.key)),
            ]
            : path.count == 2 && path[0] == "routes"
                ? [("routes[].dictionary", Settings.dictionary.map(\.key))] : []
        let homes = inner.filter { $0.1.contains(key) }.map(\.0)
        guard !homes.isEmpty else { return nil }
        return "it is a key of \(homes.joined(separator: " and of ")): indent it as deep as the others there"
    }

    /// Returns a scalar's text with `${NAME}` expanded, or nil after reporting an error.
    mutating func text(_ node: ConfigurationNode, expected: String) -> String? {
        guard case .scalar(let raw) = node.content else {
            reportUnexpected(node, expected: expected)
            return nil
        }
        guard raw.contains("${") else { return raw }
        var text = ""
        var rest = raw[...]
        while let start = rest.firstRange(of: "${") {
            text += rest[..<start.lowerBound]
            let tail = rest[start.upperBound...]
            let offset = raw.unicodeScalars.distance(from: raw.startIndex, to: start.lowerBound)
            guard let end = tail.firstIndex(of: "}"), tail[..<end].isVariableName else {
                report("`${` is not followed by a name and `}`: expected ${NAME}", in: node, offset: offset)
                return nil
            }
            let variable = String(tail[..<end])
            guard let value = environment[variable] else {
                report(
                    "the environment variable \(variable) is not set: set it, or write the value itself",
                    in: node, offset: offset)
                return nil
            }
            text += value
            rest = tail[tail.index(after: end)...]
        }
        return text + rest
    }
}

extension Substring {
    fileprivate var isVariableName: Bool {
        1...256 ~= utf8.count && utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
    }
}

extension [String] {
    /// The words as a list for error texts.
    var listed: String { joined(separator: ", ") }
}

extension String {
    /// Returns the candidate that differs by a typing error, if there is one.
    package func nearest(in candidates: [String]) -> String? {
        guard count <= 64 else { return nil }
        let ranked = candidates.map { (word: $0, distance: editDistance(to: $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= Swift.max(1, Swift.min(3, best.word.count / 3)) ? best.word : nil
    }

    /// Returns the number of characters to insert, delete or replace.
    private func editDistance(to other: String) -> Int {
        let target = Array(other)
        var row = Array(0...target.count)
        for (index, character) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in target.indices {
                let substituted = diagonal + (target[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(substituted, diagonal + 1, row[column] + 1)
            }
        }
        return row[target.count]
    }
}
