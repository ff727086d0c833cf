internal import Dictionaries

extension RouteConfiguration {
    /// What a route in a file begins from; `match` is required there.
    static let fresh = RouteConfiguration(text: "/*", match: .everything, dictionary: DictionaryPolicy())

    /// The match with its text, as one value of the table.
    struct Pattern: Sendable {
        let text: String
        let match: URLPattern
    }

    /// The match with its text.
    var pattern: Pattern {
        get { Pattern(text: text, match: match) }
        set { (text, match) = (newValue.text, newValue.match) }
    }

    mutating func check(_ node: ConfigurationNode, _ reader: inout SettingsReader) {
    }
}

extension SettingType where Value == RouteConfiguration.Pattern {
    static let urlPattern = scalar("a", write: { $0.text }, read: { t in (try? URLPattern(t, basePath: "/")).map {RouteConfiguration.Pattern(text: t, match: $0)} })
}
extension SettingType where Value == Covers {
    static let covers = scalar("a", write: { _ in "path" }, read: { t in .path })
}
