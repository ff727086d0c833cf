internal import Primitives

/// A row of the settings table: its key, target property, type and description.
///
/// The default is the value in a fresh `Target`, so it is written once, beside the property.
struct Setting<Target>: Sendable {
    let key: String
    let prose: String
    /// The accepted values, in the words of error texts.
    private(set) var expectation: String
    let isRequired: Bool
    /// Returns the dotted keys, from this one on, of the settings with an effect.
    private(set) var keys: @Sendable (ReloadEffect) -> [String]
    /// Returns those of these keys whose values differ between two targets.
    private(set) var changes: @Sendable (ReloadEffect, Target, Target) -> [String]
    private(set) var read: @Sendable (ConfigurationNode.Entry, inout SettingsReader, inout Target) -> Void
    /// Returns the form in the reference for a fresh target.
    let sample: @Sendable (Target) -> (value: SettingValue, isGiven: Bool)
    /// Returns the value in effect; nil for a setting without one.
    let effective: @Sendable (Target) -> SettingValue?

    /// Makes a setting with one value.
    ///
    /// - Parameters:
    ///   - example: The value in the reference, in place of the default.
    ///   - onReload: The effect of a change; other effects than `immediate` compare values in their written form.
    static func value<Value>(
        _ key: String, _ path: any WritableKeyPath<Target, Value> & Sendable, _ type: SettingType<Value>,
        required: Bool = false, example: String? = nil, onReload: ReloadEffect = .immediate, _ prose: String
    ) -> Setting {
        Setting(
            key: key, prose: prose, expectation: type.expectation, isRequired: required,
            keys: { $0 == onReload ? [key] : [] },
            changes: { effect, former, new in
                guard effect == onReload else { return [] }
                return type.write(former[keyPath: path]) == type.write(new[keyPath: path]) ? [] : [key]
            },
            read: { entry, reader, target in
                if let value = type.read(entry.value, &reader) { target[keyPath: path] = value }
            },
            sample: { target in
                let text = example ?? type.write(target[keyPath: path])
                return (value: .text(text), isGiven: required || example == nil)
            },
            effective: { target in
                let text = type.shown(target[keyPath: path])
                // The file cannot say that a list without a default is empty.
                return text == "[]" && example != nil ? nil : .text(text.withoutCredentials)
            })
    }

    /// Makes a section of further settings.
    ///
    /// - Parameter example: A value for error texts.
    static func section<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value> & Sendable, _ settings: [Setting<Value>],
        example: String? = nil, _ prose: String
    ) -> Setting {
        let such = example.map { ", such as \($0)" } ?? ""
        let expectation = "a mapping of \(settings.map(\.key).listed)\(such)"
        return Setting(
            key: key, prose: prose, expectation: expectation,
            isRequired: false, keys: { settings.keys($0, below: key) },
            changes: { settings.changes($0, $1[keyPath: path], $2[keyPath: path], below: key) },
            read: { entry, reader, target in
                reader.read(
                    entry.value, by: settings, into: &target[keyPath: path], expected: expectation,
                    example: example)
            },
            sample: { (value: .section(settings.members(in: $0[keyPath: path])), isGiven: true) },
            effective: { settings.effective(in: $0[keyPath: path]) })
    }

    /// Makes a section of further settings that may also be written as the value of one of them.
    ///
    /// - Parameter short: The setting whose value may stand for the section; the others then have their defaults.
    static func sectionOrValue<Value: Sendable, Short: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value> & Sendable, _ settings: [Setting<Value>],
        short: any WritableKeyPath<Value, Short> & Sendable, _ type: SettingType<Short>, _ prose: String
    ) -> Setting {
        let expectation = "\(type.expectation), or a mapping of " + settings.map(\.key).listed
        var setting = section(key, path, settings, prose)
        setting.expectation = expectation
        setting.read = { entry, reader, target in
            if case .scalar = entry.value.content {
                if let value = type.read(entry.value, &reader) {
                    target[keyPath: path][keyPath: short] = value
                }
                return
            }
            reader.read(entry.value, by: settings, into: &target[keyPath: path], expected: expectation)
        }
        return setting
    }

    /// Makes a section of further settings that may also be `off` (nil) or `on` (all defaults).
    ///
    /// - Parameters:
    ///   - fresh: The defaults of the section.
    ///   - text: The key of the setting that another word than `off` stands for; nil for `on`.
    static func sectionOrOff<Value: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value?> & Sendable, _ settings: [Setting<Value>],
        fresh: Value, text: String? = nil, _ prose: String
    ) -> Setting {
        let word = text.flatMap { key in settings.first { $0.key == key }?.expectation } ?? "on"
        let expectation = "\(word), off, or a mapping of " + settings.map(\.key).listed
        return Setting(
            key: key, prose: prose, expectation: expectation, isRequired: false,
            keys: { settings.keys($0, below: key) },
            changes: { effect, former, new in
                guard let former = former[keyPath: path], let new = new[keyPath: path] else { return [] }
                return settings.changes(effect, former, new, below: key)
            },
            read: { entry, reader, target in
                if case .scalar(let text) = entry.value.content, text.saysOff {
                    target[keyPath: path] = nil
                    return
                }
                // Off by default means that nothing turns it on but its settings.
                if case .nothing = entry.value.content, target[keyPath: path] == nil {
                    return reader.reportUnexpected(entry.value, expected: expectation)
                }
                var value = target[keyPath: path] ?? fresh
                var node = entry.value
                if case .scalar(let given) = node.content {
                    if let text {
                        let inner = ConfigurationNode.Entry(key: text, position: node.position, value: node)
                        node = ConfigurationNode(
                            position: node.position, content: .mapping([inner]), textColumn: nil)
                    } else if given.saysOn {
                        node = ConfigurationNode(position: node.position, content: .nothing, textColumn: nil)
                    }
                }
                reader.read(node, by: settings, into: &value, expected: expectation)
                target[keyPath: path] = value
            },
            sample: { target in
                let value = target[keyPath: path]
                return (value: .section(settings.members(in: value ?? fresh)), isGiven: value != nil)
            },
            effective: { target in
                guard let value = target[keyPath: path] else { return .text("off") }
                return settings.effective(in: value)
            })
    }

    /// Makes a section that may also be `off` (nil) or a text, and that takes effect as a whole.
    ///
    /// - Parameter text: The key of the setting that the text stands for.
    static func sectionOrText<Value: Sendable & Equatable>(
        _ key: String, _ path: any WritableKeyPath<Target, Value?> & Sendable, _ settings: [Setting<Value>],
        fresh: Value, text: String, onReload: ReloadEffect, _ prose: String
    ) -> Setting {
        var setting = sectionOrOff(key, path, settings, fresh: fresh, text: text, prose)
        setting.keys = { $0 == onReload ? [key] : [] }
        setting.changes = { effect, former, new in
            effect == onReload && former[keyPath: path] != new[keyPath: path] ? [key] : []
        }
        return setting
    }

    /// Makes a list of sections, which replaces the default list.
    ///
    /// - Parameters:
    ///   - check: Checks each item after its settings have been read.
    ///   - same: Returns true if two items stand for the same thing before and after a reload.
    static func list<Item: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, [Item]> & Sendable, _ settings: [Setting<Item>],
        fresh: Item, countMax: Int, _ prose: String,
        check: @escaping @Sendable (inout Item, inout SettingsReader) -> Void = { _, _ in },
        same: @escaping @Sendable (Item, Item) -> Bool = { _, _ in false }
    ) -> Setting {
        let expectation = "a list of 1 to \(countMax) mappings of " + settings.map(\.key).listed
        return Setting(
            key: key, prose: prose, expectation: expectation, isRequired: false,
            keys: { settings.keys($0, below: key) },
            changes: { settings.changes($0, $1[keyPath: path], $2[keyPath: path], below: key, same: same) },
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
            sample: { _ in (value: .items([.section(settings.members(in: fresh))]), isGiven: true) },
            effective: { .items($0[keyPath: path].compactMap { settings.effective(in: $0) }) })
    }

    /// Makes a mapping from names to sections, which stand in a list.
    ///
    /// - Parameters:
    ///   - name: The name of an item.
    ///   - example: The mapping in the reference, where it is commented out.
    static func named<Item: Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, [Item]> & Sendable,
        _ name: any WritableKeyPath<Item, String> & Sendable, _ settings: [Setting<Item>], fresh: Item,
        countMax: Int, example: String, _ prose: String
    ) -> Setting {
        let expectation =
            "a mapping of 1 to \(countMax) names, each with a mapping of " + settings.map(\.key).listed
        return Setting(
            key: key, prose: prose, expectation: "a mapping of 1 to \(countMax) names", isRequired: false,
            keys: { settings.keys($0, below: key) },
            changes: {
                settings.changes($0, $1[keyPath: path], $2[keyPath: path], below: key) {
                    $0[keyPath: name] == $1[keyPath: name]
                }
            },
            read: { entry, reader, target in
                guard case .mapping(let entries) = entry.value.content, 1...countMax ~= entries.count else {
                    reader.reportUnexpected(entry.value, expected: expectation)
                    return
                }
                target[keyPath: path] = entries.map { entry in
                    var item = fresh
                    item[keyPath: name] = entry.key
                    if !entry.key.isSectionName {
                        reader.report(
                            "\(key) has the name \"\(entry.key.shortened)\": expected 1 to 64 letters, digits, - or _",
                            at: entry.position)
                    }
                    reader.descend(entry.key) { $0.read(entry.value, by: settings, into: &item) }
                    return item
                }
            },
            sample: { _ in (value: .text(example), isGiven: false) },
            effective: { target in
                .section(
                    target[keyPath: path].compactMap { item in
                        settings.effective(in: item).map { .init(key: item[keyPath: name], value: $0) }
                    })
            })
    }
}

extension String {
    /// True for names that stand in dotted keys, logs and labels as they are.
    fileprivate var isSectionName: Bool {
        1...64 ~= utf8.count && utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_".utf8.contains($0) }
    }
}

/// The effect of a changed setting when a running proxy reads its configuration again.
enum ReloadEffect: String, Sendable, CaseIterable {
    /// The change applies to the next request or connection.
    case immediate
    /// The reload succeeds, and the change waits for the next start.
    case atNextStart
    /// The reload is refused, since the proxy would not be what its configuration says.
    case refused

    /// The sentence of the reference; nil for the usual effect.
    var prose: String? {
        switch self {
        case .immediate: nil
        case .atNextStart: "A change takes effect at the next start."
        case .refused: "A change needs a restart; a reload with it is refused."
        }
    }
}

extension [Setting<Configuration>] {
    /// Returns the dotted keys of the settings with an effect, in the order of the table.
    func keys(_ effect: ReloadEffect) -> [String] { flatMap { $0.keys(effect) } }

    /// Returns the dotted keys of the settings with an effect whose values differ.
    func changes(_ effect: ReloadEffect, from former: Configuration, to new: Configuration) -> [String] {
        flatMap { $0.changes(effect, former, new) }
    }
}

extension Array {
    fileprivate func keys<Target>(_ effect: ReloadEffect, below key: String) -> [String]
    where Element == Setting<Target> {
        flatMap { $0.keys(effect) }.map { "\(key).\($0)" }
    }

    fileprivate func changes<Target>(
        _ effect: ReloadEffect, _ former: Target, _ new: Target, below key: String
    ) -> [String] where Element == Setting<Target> {
        flatMap { $0.changes(effect, former, new) }.map { "\(key).\($0)" }
    }

    /// Returns the keys that differ between any two items which stand for the same thing.
    fileprivate func changes<Item>(
        _ effect: ReloadEffect, _ former: [Item], _ new: [Item], below key: String, same: (Item, Item) -> Bool
    ) -> [String] where Element == Setting<Item> {
        let changed = new.flatMap { item in
            former.filter { same($0, item) }.flatMap { changes(effect, $0, item, below: key) }
        }
        return keys(effect, below: key).filter(changed.contains)
    }
}
