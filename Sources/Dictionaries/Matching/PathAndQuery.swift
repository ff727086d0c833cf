/// The path of a URL, and its query without the question mark; nil if it has none.
package struct PathAndQuery: Equatable, Sendable {
    package let path: String
    package let query: String?

    package init(path: String, query: String? = nil) {
        self.path = path
        self.query = query
    }

    /// Splits a text at its first question mark, by bytes: opening a store judges all of its versions by their paths.
    package init(_ text: String) {
        let mark = text.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = mark.map { String(text[..<$0]) } ?? text
        query = mark.map { String(text[text.utf8.index(after: $0)...]) }
    }

    package var text: String { query.map { "\(path)?\($0)" } ?? path }
}
