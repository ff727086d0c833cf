extension Substring {
    /// Takes what is before the first occurrence of a text, and drops the text as well.
    ///
    /// Returns nil, and takes nothing, if the text does not occur. The library's own searches for texts need iOS 16.
    mutating func take(before text: String) -> Substring? {
        var rest = self
        while !rest.hasPrefix(text) {
            guard rest.popFirst() != nil else { return nil }
        }
        defer { self = rest.dropFirst(text.count) }
        return self[..<rest.startIndex]
    }
}
