internal import Dictionaries
internal import HTTP
internal import Primitives

extension RouteConfiguration {
    /// The changes to the fields of a route's messages.
    package struct HeaderSettings: Sendable, Equatable {
        package var request = FieldSettings()
        package var response = FieldSettings()
    }

    package struct FieldSettings: Sendable, Equatable {
        package var set: [Field] = []
        package var remove: [String] = []

        package struct Field: Sendable, Equatable {
            let name: String
            let value: String
        }
    }

    package struct Limits: Sendable, Equatable {
        package var requestBody: Int?
        package var rate: Configuration.Rate?
        package var burst: Int?
    }

    /// True if the route protects something that requests for its paths must not get around.
    var guards: Bool {
        upstream != nil || stripPrefix != nil || headers != .init() || limits != .init()
    }

    /// A text that differs if the route's URLs may stand for other resources of an upstream.
    ///
    /// Stored responses are revalidated only if it is the same: two upstreams may use one entity tag for two bodies.
    var source: String {
        let fields = headers.request.set.map { "\($0.name.lowercased()):\($0.value)" }
        let parts = [upstream ?? "", stripPrefix?.text ?? ""] + fields
        guard parts.contains(where: { !$0.isEmpty }) else { return "" }
        return String(Digest(of: Array(parts.joined(separator: "\n").utf8).span).base64URL.prefix(22))
    }

    /// Checks the settings of forwarding after all settings of the route have been read.
    func checkForwarding(_ reader: inout SettingsReader) {
        checkPrefix(&reader)
        guard dictionary != nil else { return }
        for (key, names) in [("set", headers.response.set.map(\.name)), ("remove", headers.response.remove)]
        where names.contains(where: { $0.lowercased() == "cache-control" }) {
            reader.report(
                "Cache-Control decides what becomes a dictionary: expected dictionary.cache_control",
                of: "headers.response.\(key)")
        }
    }

    private func checkPrefix(_ reader: inout SettingsReader) {
        guard let prefix = stripPrefix, let node = reader.node(of: "strip_prefix") else { return }
        let other = match.patterns.first { pattern in
            // Behind fixed text a question mark begins the query.
            pattern.text != prefix.text
                && !["/", "?"].contains { pattern.text.hasPrefix(prefix.text + $0) }
        }
        guard let other else { return }
        let expected =
            other.text.contains("{")
            ? "patterns without braces, such as [\(prefix.text), \(prefix.text)/*]"
            : "the start of every match, such as \(Self.firstSegment(of: other))"
        reader.descend("strip_prefix") {
            $0.reportUnexpected(node, expected: expected, because: "\(other.text) does not begin with it")
        }
    }

    private static func firstSegment(of pattern: URLPattern) -> String {
        let segment = pattern.text.dropFirst().prefix { $0 != "/" }
        return PathPrefix("/" + segment)?.text ?? "/api"
    }
}

extension Settings {
    static let routeHeaders: [Setting<RouteConfiguration.HeaderSettings>] = [
        .section("request", \.request, fields(of: .request), "The fields that the upstream gets."),
        .section(
            "response", \.response, fields(of: .response), "The fields that clients get from the upstream."),
    ]

    private static func fields(of message: FieldRule.Message) -> [Setting<RouteConfiguration.FieldSettings>] {
        let example = message == .request ? "{X-Tenant: shop}" : "{X-Frame-Options: DENY}"
        return [
            .value(
                "set", \.set, .fields(of: message), example: example,
                "Each replaces all fields of its name."),
            .value(
                "remove", \.remove, .list(.field(of: message), 0...64),
                example: message == .request ? "[Cookie]" : "[Server]", "Names of fields to remove."),
        ]
    }

    static let routeLimits: [Setting<RouteConfiguration.Limits>] = [
        .value(
            "request_body", \.requestBody, .optional(.size(0...tebibyte)), example: "1MiB",
            "The maximum size of a request body, in place of limits.request_body."),
        .value(
            "rate", \.rate, .optional(.rate), example: "10/s",
            """
            The maximum request rate per client address on this route, besides limits.client.rate. Requests beyond it get a \
            429 with Retry-After.
            """),
        .value(
            "burst", \.burst, .optional(.count(1...1_000_000)), example: "20",
            "The number of requests that may come at once. The default is the number for one second."),
    ]
}

extension SettingType where Value == PathPrefix {
    static let pathPrefix = scalar(
        "a path of fixed segments, such as /api", write: \.text, read: { PathPrefix($0) })
}

extension SettingType where Value == String {
    /// The name of a field that a route may remove.
    fileprivate static func field(of message: FieldRule.Message) -> SettingType {
        word("the name of a field, such as X-Powered-By") { $0[...].isToken }
            .refusing(expected: "another field") { name in
                FieldRule.obstacle(to: name, of: message, isSet: false).map { "this field \($0)" }
            }
    }
}

extension SettingType where Value == [RouteConfiguration.FieldSettings.Field] {
    private static let countMax = 64

    /// A mapping from fields that a route may set to their values.
    fileprivate static func fields(of message: FieldRule.Message) -> SettingType {
        let expectation = "a mapping of 1 to \(countMax) names of fields with their values"
        return SettingType(
            expectation: expectation,
            read: { node, reader in
                guard case .mapping(let entries) = node.content, 1...countMax ~= entries.count else {
                    reader.reportUnexpected(node, expected: expectation)
                    return nil
                }
                var names: Set<String> = []
                let fields = entries.map { entry in
                    let isFirst = names.insert(entry.key.lowercased()).inserted
                    return reader.descend(entry.key.shortened) { reader in
                        if !isFirst {
                            reader.report("given twice: expected each field once", in: entry.name, offset: 0)
                        }
                        return field(entry, of: message, &reader)
                    }
                }
                let present = fields.compactMap(\.self)
                return present.count == fields.count ? present : nil
            },
            write: { fields in text(of: fields) { $0.value.inYAML } },
            // What upstreams get is often a credential. Clients see the fields of responses anyway.
            redact: { fields in
                text(of: fields) { message == .request ? SettingValue.redacted : $0.value.inYAML }
            })
    }

    private static func text(
        of fields: Value, value: (RouteConfiguration.FieldSettings.Field) -> String
    ) -> String {
        fields.isEmpty ? "" : "{" + fields.map { "\($0.name.inYAML): \(value($0))" }.listed + "}"
    }

    private static func field(
        _ entry: ConfigurationNode.Entry, of message: FieldRule.Message, _ reader: inout SettingsReader
    ) -> RouteConfiguration.FieldSettings.Field? {
        let name = entry.key
        guard name[...].isToken else {
            reader.report(
                "invalid name of a field: expected a name such as X-Tenant", in: entry.name, offset: 0)
            return nil
        }
        if let obstacle = FieldRule.obstacle(to: name, of: message, isSet: true) {
            reader.report("this field \(obstacle): expected another field", in: entry.name, offset: 0)
            return nil
        }
        let expectation =
            name.lowercased() == "host"
            ? "a host with an optional port"
            : "1 to 4096 visible ASCII characters and blanks, on one line"
        guard let value = reader.text(entry.value, expected: expectation) else { return nil }
        let isValid = name.lowercased() == "host" ? HostAndPort(value) != nil : isFieldValue(value)
        guard isValid else {
            // Not quoted, as it may be a credential.
            reader.report("invalid value: expected \(expectation)", in: entry.value, offset: 0)
            return nil
        }
        return .init(name: name, value: value)
    }

    /// Returns true for text that is one field value, whoever parses it: no line ends, no control characters.
    private static func isFieldValue(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard 1...4096 ~= bytes.count, bytes.first != ASCII.space, bytes.last != ASCII.space else {
            return false
        }
        return bytes.allSatisfy { 0x20...0x7E ~= $0 }
    }
}

extension ConfigurationNode.Entry {
    /// The key as a node, for errors about it.
    fileprivate var name: ConfigurationNode {
        ConfigurationNode(position: position, content: .scalar(key), textColumn: nil)
    }
}
