/// The lines of INFO: names and values.
package struct RedisInfo: Sendable {
    private let values: [String: String]

    package init(_ text: String) {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[String(line[..<colon])] = String(line[line.index(after: colon)...])
        }
        self.values = values
    }

    package subscript(name: String) -> String? { values[name] }
}
