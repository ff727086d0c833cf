/// A row of the settings table: its key, target property, type and description.
///
/// The default is the value in a fresh `Target`, so it is written once, beside the property.
struct Setting<Target>: Sendable {
    /// The form of a setting in the reference.
    enum Sample: Sendable {
        /// `key: text`, commented out if `isGiven` is false.
        case value(String, isGiven: Bool)
        /// The lines of a section, one level deeper. `isItem` makes them the first item of a list; without
        /// `isGiven` they are commented out.
        case section([ReferenceLine], isItem: Bool, isGiven: Bool = true)
    }

    let key: String
    /// The description, in sentences.
    let prose: String
    /// The accepted values, in the words of error texts.
    let expectation: String
    /// True if the setting may not be left out.
    let isRequired: Bool
    let read: @Sendable (ConfigurationNode.Entry, inout SettingsReader, inout Target) -> Void
    /// Returns the form in the reference for a fresh target.
    let sample: @Sendable (Target) -> Sample

    /// Makes a setting with one value.
    ///
    /// - Parameter example: The value in the reference, in place of the default.
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

    /// Makes a section of further settings.
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

    /// Makes a section of further settings that may also be `off` (nil) or `on` (all defaults).
    ///
    /// - Parameter fresh: The defaults of the section.
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

    /// Makes a list of sections, which replaces the default list.
    ///
    /// - Parameter check: Checks each item after its settings have been read.
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
