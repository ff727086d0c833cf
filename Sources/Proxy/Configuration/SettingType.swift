/// The type of a setting's value: how to read it from text, and how to write it.
struct SettingType<Value>: Sendable {
    /// The accepted values, in the words of error texts: "a duration from 1ms to 10m, such as 5s".
    let expectation: String
    /// Returns the value of a node, or nil after reporting an error.
    let read: @Sendable (ConfigurationNode, inout SettingsReader) -> Value?
    let write: @Sendable (Value) -> String
    /// Returns the value for reports, without its secrets; nil if `write` does.
    var redact: (@Sendable (Value) -> String)?

    /// Returns the value as YAML for reports; empty for none.
    func shown(_ value: Value) -> String { redact?(value) ?? write(value) }

    /// Returns a type that also refuses the values for which `reason` returns one.
    func refusing(expected: String, because reason: @escaping @Sendable (Value) -> String?) -> SettingType {
        SettingType(
            expectation: expectation,
            read: { node, reader in
                guard let value = read(node, &reader) else { return nil }
                guard let reason = reason(value) else { return value }
                reader.reportUnexpected(node, expected: expected, because: reason)
                return nil
            }, write: write, redact: redact)
    }

    /// Returns a type that refuses a list with the same item twice.
    func once<Item: Hashable & Sendable>(_ noun: String) -> SettingType where Value == [Item] {
        refusing(expected: "each \(noun) once") { items in
            Set(items).count == items.count ? nil : "one is named twice"
        }
    }

    static func list<Element: Sendable>(_ element: SettingType<Element>, _ counts: ClosedRange<Int>)
        -> SettingType
    where Value == [Element] {
        let expectation =
            "a list of \(counts.lowerBound) to \(counts.upperBound), each \(element.expectation)"
        return SettingType(
            expectation: expectation,
            read: { node, reader in
                guard case .list(let items) = node.content, counts ~= items.count else {
                    reader.reportUnexpected(node, expected: expectation)
                    return nil
                }
                let values = items.enumerated().map { index, item in
                    reader.descend("[\(index)]") { element.read(item, &$0) }
                }
                let present = values.compactMap(\.self)
                return present.count == values.count ? present : nil
            },
            write: { "[" + $0.map(element.write).listed + "]" },
            redact: { "[" + $0.map(element.shown).listed + "]" })
    }
}

/// Why a text is not the value of a setting.
enum SettingFault: Error {
    /// The reason, where more can be said than what was expected.
    case unexpected(because: String? = nil)
    /// The error itself, for texts that are not quoted, since they may be secret.
    case unquoted(String)
}

extension SettingType where Value: Sendable {
    /// Makes a type for scalars; `read` returns nil for invalid texts.
    static func scalar(
        _ expectation: String, write: @escaping @Sendable (Value) -> String,
        read: @escaping @Sendable (String) -> Value?
    ) -> SettingType {
        parsed(expectation, write: write) { text throws(SettingFault) in
            guard let value = read(text) else { throw .unexpected() }
            return value
        }
    }

    /// Makes a type for scalars; `parse` throws for invalid texts.
    static func parsed(
        _ expectation: String, write: @escaping @Sendable (Value) -> String,
        redact: (@Sendable (Value) -> String)? = nil,
        parse: @escaping @Sendable (String) throws(SettingFault) -> Value
    ) -> SettingType {
        SettingType(
            expectation: expectation,
            read: { node, reader in
                guard let text = reader.text(node, expected: expectation) else { return nil }
                do throws(SettingFault) {
                    return try parse(text)
                } catch {
                    switch error {
                    case .unexpected(let reason):
                        reader.reportUnexpected(node, expected: expectation, because: reason)
                    case .unquoted(let text):
                        reader.report("\(text): expected \(expectation)", in: node, offset: 0)
                    }
                    return nil
                }
            }, write: write, redact: redact)
    }

    /// Makes a type for a value that is nil by default.
    static func optional<Wrapped>(_ type: SettingType<Wrapped>) -> SettingType where Value == Wrapped? {
        SettingType(
            expectation: type.expectation,
            read: { node, reader in type.read(node, &reader).map(Optional.some) },
            write: { $0.map(type.write) ?? "" }, redact: { $0.map(type.shown) ?? "" })
    }

    /// Makes a type for a fixed set of words, each of which stands for a value.
    static func choice(_ words: KeyValuePairs<String, Value>) -> SettingType where Value: Equatable {
        choice(Array(words))
    }

    static func choice(_ words: [(key: String, value: Value)]) -> SettingType where Value: Equatable {
        let names = words.map(\.key)
        let values = words.map(\.value)
        return scalar(
            [names.dropLast().joined(separator: ", "), names.last ?? ""].filter { !$0.isEmpty }.joined(
                separator: " or "),
            write: { value in values.firstIndex(of: value).map { names[$0] } ?? "" },
            read: { text in
                let word = text.saysOff ? names.first(where: \.saysOff) ?? text : text
                return names.firstIndex(of: word).map { values[$0] }
            })
    }
}

extension SettingType where Value == Bool {
    static let flag = scalar(
        "on or off", write: { $0 ? "on" : "off" },
        read: { ["on": true, "true": true, "off": false, "false": false][$0] })
}

extension SettingType where Value == String {
    static let path = scalar("a path", write: { $0.isEmpty ? "" : $0.inYAML }, read: readPath)

    static let readPath: @Sendable (String) -> String? = {
        $0.isEmpty || $0.utf8.count > 4096 || $0.contains("\0") ? nil : $0
    }

    /// Makes a type for texts that `accepts` returns true for.
    static func word(_ expectation: String, accepts: @escaping @Sendable (String) -> Bool) -> SettingType {
        scalar(expectation, write: { $0.inYAML }, read: { accepts($0) ? $0 : nil })
    }
}

extension SettingType where Value == Int? {
    /// Makes a type for a compression level; `auto` is nil.
    static func level(_ bounds: ClosedRange<Int>) -> SettingType {
        scalar(
            "auto, or a number from \(bounds.lowerBound) to \(bounds.upperBound)",
            write: { $0.map(String.init) ?? "auto" },
            read: { $0 == "auto" ? .some(nil) : Quantity.count.value(of: $0, in: bounds).map(Optional.some) })
    }
}

extension SettingType where Value == Double {
    /// A share: a switch or a percentage.
    static let share = scalar(
        "true, false, or a share such as 1%",
        write: { $0 == 1 ? "true" : $0 == 0 ? "false" : "\(($0 * 1e6).rounded() / 1e4)%" },
        read: { text in
            if text.saysOff { return 0 }
            if text == "true" || text == "on" { return 1 }
            return Quantity.percent(text).flatMap { 0...100 ~= $0 ? $0 / 100 : nil }
        })
}

extension SettingType where Value == Int {
    static func count(_ bounds: ClosedRange<Int>) -> SettingType {
        scalar(
            "a number from \(bounds.lowerBound) to \(bounds.upperBound)", write: { String($0) },
            read: { Quantity.count.value(of: $0, in: bounds) })
    }

    /// Makes a type for durations, in milliseconds.
    static func duration(_ bounds: ClosedRange<Int>) -> SettingType {
        quantity(.duration, "a duration", bounds, "such as 250ms, 10s, 5m or 7d")
    }

    /// Makes a type for durations, in milliseconds; 0 for `off`.
    static func durationOrOff(_ bounds: ClosedRange<Int>, on: Int) -> SettingType {
        let duration = duration(bounds)
        return scalar(
            "on, off, or \(duration.expectation)", write: { $0 == 0 ? "off" : duration.write($0) },
            read: { text in
                if text.saysOff { return 0 }
                return text == "on" || text == "true" ? on : Quantity.duration.value(of: text, in: bounds)
            })
    }

    /// Makes a type for sizes, in bytes.
    static func size(_ bounds: ClosedRange<Int>) -> SettingType {
        quantity(.size, "a size", bounds, "such as 64KiB, 8MiB or 1GiB")
    }

    private static func quantity(
        _ quantity: Quantity, _ what: String, _ bounds: ClosedRange<Int>, _ examples: String
    ) -> SettingType {
        let range = "\(quantity.text(of: bounds.lowerBound)) to \(quantity.text(of: bounds.upperBound))"
        return scalar(
            "\(what) from \(range), \(examples)", write: quantity.text(of:),
            read: { quantity.value(of: $0, in: bounds) })
    }
}

extension String {
    /// True for `off` and `false`, which mean the same everywhere.
    var saysOff: Bool { self == "off" || self == "false" }
    var saysOn: Bool { self == "on" || self == "true" }

    /// The text as a YAML scalar inside a list, quoted if necessary.
    var inYAML: String {
        let plain =
            !isEmpty && first != "-" && first != "?" && self != "~" && self != "null"
            && unicodeScalars.allSatisfy { $0.isASCII && !"*&!|>'\"%@`#{}[],: ".unicodeScalars.contains($0) }
        return plain ? self : "\"\(unicodeScalars.map(\.inQuotes).joined())\""
    }
}

extension Unicode.Scalar {
    /// The scalar inside a YAML scalar in double quotes.
    fileprivate var inQuotes: String {
        switch self {
        case "\\", "\"": "\\\(self)"
        case "\u{0}"..<" ", "\u{7F}": "\\x" + String(value | 0x100, radix: 16).dropFirst().uppercased()
        default: String(self)
        }
    }
}
