/// One line of the table of settings: a key, where its value goes, what it takes and what it is for.
///
/// The default is what a fresh `Target` has, so it is written once, beside the property.
struct Setting<Target>: Sendable {
    /// What a file that gives every default shows for a setting.
    enum Sample: Sendable {
        /// `key: text`, commented out if `isGiven` is false.
        case value(String, isGiven: Bool)
        /// The lines of a section, one level deeper; `isItem` makes them the first item of a list, and without
        /// `isGiven` they are commented out.
        case section([ReferenceLine], isItem: Bool, isGiven: Bool = true)
    }

    /// The name in the file.
    let key: String
    /// What it is for, in sentences.
    let prose: String
    /// What it takes, as error texts say it.
    let expectation: String
    /// Whether leaving it out is an error.
    let isRequired: Bool
    /// Reads the value.
    let read: @Sendable (ConfigurationNode.Entry, inout SettingsReader, inout Target) -> Void
    /// What the reference shows, given a fresh target.
    let sample: @Sendable (Target) -> Sample

    /// A setting with one value.
    ///
    /// - Parameter example: what the reference shows instead of the default.
    static func value<Value>(
        _ key: String, _ path: any WritableKeyPath<Target, Value> & Sendable, _ type: SettingType<Value>,
        required: Bool = false, example: String? = nil, _ prose: String
    ) -> Setting {
        Setting(
            key: key, prose: prose, expectation: type.expectation, isRequired: required,
            read: { entry, reader, target in
                if let value = type.read(entry.value, &reader) { target[keyPath: path] = value }
            },
            sample: { target in
                let text = example ?? type.write(target[keyPath: path])
                return .value(text, isGiven: required || example == nil)
            })
    }

    /// A mapping of settings of its own.
    static func section<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value> & Sendable, _ settings: [Setting<Value>],
        required: Bool = false, _ prose: String
    ) -> Setting {
        Setting(
            key: key, prose: prose, expectation: "a mapping of " + settings.map(\.key).listed,
            isRequired: required,
            read: { entry, reader, target in
                reader.read(entry.value, by: settings, into: &target[keyPath: path])
            },
            sample: { .section(ReferenceLine.lines(of: settings, in: $0[keyPath: path]), isItem: false) })
    }

    /// A mapping of settings of its own, or `off`, which is nil, or `on`, which is a mapping of nothing.
    ///
    /// - Parameter fresh: what the mapping begins from.
    static func sectionOrOff<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value?> & Sendable, _ settings: [Setting<Value>],
        fresh: Value, _ prose: String
    ) -> Setting {
        let expectation = "on, off, or a mapping of " + settings.map(\.key).listed
        return Setting(
            key: key, prose: prose, expectation: expectation, isRequired: false,
            read: { entry, reader, target in
                if case .scalar(let text) = entry.value.content, text.saysOff {
                    target[keyPath: path] = nil
                    return
                }
                var value = target[keyPath: path] ?? fresh
                var node = entry.value
                if case .scalar(let text) = node.content, text.saysOn {
                    node = ConfigurationNode(position: node.position, content: .nothing, textColumn: nil)
                }
                reader.read(node, by: settings, into: &value, expected: expectation)
                target[keyPath: path] = value
            },
            sample: { target in
                let value = target[keyPath: path]
                return .section(
                    ReferenceLine.lines(of: settings, in: value ?? fresh), isItem: false,
                    isGiven: value != nil)
            })
    }

    /// A list of mappings, which replaces the default as a whole.
    ///
    /// - Parameter check: looks at each item when all its settings are read.
    static func list<Item: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, [Item]> & Sendable, _ settings: [Setting<Item>],
        fresh: Item, countMax: Int, _ prose: String,
        check: @escaping @Sendable (inout Item, inout SettingsReader) -> Void = { _, _ in }
    ) -> Setting {
        let expectation = "a list of 1 to \(countMax) mappings of " + settings.map(\.key).listed
        return Setting(
            key: key, prose: prose, expectation: expectation, isRequired: false,
            read: { entry, reader, target in
                guard case .list(let nodes) = entry.value.content, 1...countMax ~= nodes.count else {
                    reader.reportUnexpected(entry.value, expected: expectation)
                    return
                }
                target[keyPath: path] = nodes.enumerated().map { index, node in
                    reader.descend("[\(index)]") { reader in
                        var item = fresh
                        reader.read(node, by: settings, into: &item)
                        check(&item, &reader)
                        return item
                    }
                }
            },
            sample: { _ in .section(ReferenceLine.lines(of: settings, in: fresh), isItem: true) })
    }
}
