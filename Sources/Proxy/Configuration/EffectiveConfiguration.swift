/// The value of a setting in effect, in a form that is written as YAML.
indirect enum EffectiveValue: Sendable {
    static let redacted = "(redacted)"

    struct Member: Sendable {
        let key: String
        let value: EffectiveValue
    }

    /// YAML on one line; empty for a setting without a value.
    case text(String)
    case section([Member])
    case items([EffectiveValue])

    fileprivate var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .section(let members): members.allSatisfy(\.value.isEmpty)
        case .items(let items): items.isEmpty
        }
    }

    /// Returns the lines of a block, `indent` levels deep.
    fileprivate func yaml(indent: Int) -> [String] {
        let margin = String(repeating: "  ", count: indent)
        switch self {
        case .text(let text): return [margin + text.withoutCredentials]
        case .section(let members):
            return members.filter { !$0.value.isEmpty }.flatMap { member in
                let key = margin + member.key + ":"
                guard case .text(let text) = member.value else {
                    return [key] + member.value.yaml(indent: indent + 1)
                }
                return [key + " " + text.withoutCredentials]
            }
        case .items(let items):
            return items.flatMap { item in
                var lines = item.yaml(indent: indent + 1)
                if let first = lines.first { lines[0] = margin + "- " + first.drop { $0 == " " } }
                return lines
            }
        }
    }

    fileprivate func appendRedacted(below key: String, to keys: inout [String]) {
        switch self {
        case .text(let text): if text.contains(Self.redacted) { keys.append(key) }
        case .section(let members):
            for member in members {
                member.value.appendRedacted(
                    below: key.isEmpty ? member.key : "\(key).\(member.key)", to: &keys)
            }
        case .items(let items):
            for (place, item) in items.enumerated() {
                item.appendRedacted(below: "\(key)[\(place)]", to: &keys)
            }
        }
    }
}

extension [Setting<Configuration>] {
    fileprivate func effective(_ configuration: Configuration) -> EffectiveValue {
        // An upstream without URLs stands for none.
        let settings = configuration.upstream.urls.isEmpty ? filter { $0.key != "upstream" } : self
        return settings.effective(in: configuration) ?? .section([])
    }
}

extension Array {
    /// Returns the values of a section; nil if it has none.
    func effective<Target>(in target: Target) -> EffectiveValue? where Element == Setting<Target> {
        let value = EffectiveValue.section(
            compactMap { setting in setting.effective(target).map { .init(key: setting.key, value: $0) } })
        return value.isEmpty ? nil : value
    }
}

/// A configuration with every default filled in, and without its secrets.
struct EffectiveConfiguration: Sendable {
    /// A document that `dictum check` accepts once the secrets are filled in.
    let yaml: String
    /// The dotted keys of the settings whose secrets are left out.
    let redacted: [String]

    init(_ configuration: Configuration) {
        let value = Settings.all.effective(configuration)
        yaml = value.yaml(indent: 0).joined(separator: "\n") + "\n"
        var keys: [String] = []
        value.appendRedacted(below: "", to: &keys)
        redacted = keys
    }

    /// The document as a value for JSON; every scalar is the text that the file would have.
    var node: ConfigurationNode? {
        var text = ConfigurationText()
        return text.parse(yaml)
    }
}

extension String {
    /// The text with the user information of URLs replaced.
    var withoutCredentials: String {
        var text = ""
        var rest = self[...]
        while let start = rest.firstRange(of: "://") {
            text += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
            let authority = rest.prefix { !"/?#, \"]}".contains($0) }
            guard let mark = authority.lastIndex(of: "@") else { continue }
            text += EffectiveValue.redacted
            rest = rest[mark...]
        }
        return text + rest
    }
}

extension ConfigurationNode: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch content {
        case .nothing: try container.encodeNil()
        case .scalar(let text): try container.encode(text)
        case .list(let items): try container.encode(items)
        case .mapping(let entries):
            // The names of fields are keys too; an encoder leaves those of a dictionary as they are.
            try container.encode(Dictionary(entries.map { ($0.key, $0.value) }) { $1 })
        }
    }
}
