extension SettingValue {
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
    fileprivate func effective(_ configuration: Configuration) -> SettingValue {
        // An upstream without URLs stands for none.
        let settings = configuration.upstream.urls.isEmpty ? filter { $0.key != "upstream" } : self
        return settings.effective(in: configuration) ?? .section([])
    }
}

extension Array {
    /// Returns the values of a section; nil if it has none.
    func effective<Target>(in target: Target) -> SettingValue? where Element == Setting<Target> {
        let members: [SettingValue.Member] = compactMap { setting in
            setting.effective(target).flatMap {
                $0.isEmpty ? nil : SettingValue.Member(key: setting.key, value: $0)
            }
        }
        return members.isEmpty ? nil : .section(members)
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
            text += SettingValue.redacted
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
