/// A dictionary in the form in which an encoder gets it.
package struct PreparedUse: Sendable {
    package let dictionary: DictionaryUse
    /// True if the index was made for this use, and has never been tried.
    package let isFirst: Bool

    init(_ dictionary: DictionaryUse, isFirst: Bool = false) {
        self.dictionary = dictionary
        self.isFirst = isFirst
    }
}
