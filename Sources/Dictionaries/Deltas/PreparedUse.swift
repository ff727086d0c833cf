/// A dictionary as an encoder gets it, and whether it is the first to use its index.
package struct PreparedUse: Sendable {
    package let dictionary: DictionaryUse
    /// Whether the index was made for this use.
    package let isFirst: Bool

    init(_ dictionary: DictionaryUse, isFirst: Bool = false) {
        self.dictionary = dictionary
        self.isFirst = isFirst
    }
}
