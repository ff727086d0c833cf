/// An iterator over the members of a list field value; quoted separators do not count.
///
/// Empty members are skipped: a recipient must parse and ignore a reasonable number of them (RFC 9110 section
/// 5.6.1.2).
struct ListMembers {
    private var offset: Int
    private let limit: Int
    private let separator: UInt8

    /// Begins at the start of the given range.
    init(_ range: Range<Int>, separator: UInt8 = UInt8(ascii: ",")) {
        offset = range.lowerBound
        limit = range.upperBound
        self.separator = separator
    }

    /// Returns the next member without surrounding white space, or nil after the last; the text must be the same on
    /// each call.
    mutating func next(in text: Span<UInt8>) -> Range<Int>? {
        while let member = nextOrEmpty(in: text) {
            if !member.isEmpty { return member }
        }
        return nil
    }

    /// Returns the next member without surrounding white space, possibly empty; nil after the last.
    mutating func nextOrEmpty(in text: Span<UInt8>) -> Range<Int>? {
        guard offset < limit else { return nil }
        let start = offset
        offset = end(in: text)
        let member = FieldSyntax.trimmed(start..<offset, in: text)
        offset += 1
        return member
    }

    private func end(in text: Span<UInt8>) -> Int {
        var index = offset
        var isQuoted = false
        while index < limit {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                index += 1
            } else if !isQuoted, byte == separator {
                return index
            }
            index += 1
        }
        return limit
    }
}
