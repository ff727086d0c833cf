/// Walks the members of a comma-separated list in a field value, from either end.
///
/// Separators inside quoted strings do not count. RFC 9110 section 5.6.1.2: a recipient must parse and ignore a
/// reasonable number of empty list elements. The text must be the same at each call.
@usableFromInline package struct ListMembers {
    @usableFromInline var start: Int
    @usableFromInline var end: Int
    @usableFromInline let separator: UInt8

    @inlinable
    package init(_ range: Range<Int>, separator: UInt8 = ASCII.comma) {
        start = range.lowerBound
        end = range.upperBound
        self.separator = separator
    }

    /// Removes the first member that is not empty; returns it without surrounding blanks, nil after the last.
    @inlinable
    package mutating func next(in text: Span<UInt8>) -> Range<Int>? {
        while let member = nextOrEmpty(in: text) {
            if !member.isEmpty { return member }
        }
        return nil
    }

    /// Removes the first member, which may be empty; returns it without surrounding blanks, nil after the last.
    @inlinable
    package mutating func nextOrEmpty(in text: Span<UInt8>) -> Range<Int>? {
        guard start < end else { return nil }
        let memberEnd = endOfFirst(in: text)
        let member = text.trimmedRange(start..<memberEnd)
        start = memberEnd + 1
        return member
    }

    /// Removes the last member that is not empty; returns it without surrounding blanks, nil after the first.
    ///
    /// Does not read the members before it.
    @inlinable
    package mutating func popLast(in text: Span<UInt8>) -> Range<Int>? {
        while start < end {
            let memberStart = startOfLast(in: text)
            let member = text.trimmedRange(memberStart..<end)
            end = memberStart - 1
            if !member.isEmpty { return member }
        }
        return nil
    }

    @inlinable
    func endOfFirst(in text: Span<UInt8>) -> Int {
        var index = start
        while index < end, text[index] != separator {
            index = text[index] == ASCII.quote ? endOfQuoted(from: index, in: text) : index + 1
        }
        return Swift.min(index, end)
    }

    // RFC 9110 5.6.4: within quotes a backslash escapes the next byte. Without a second quote all is quoted.
    @inlinable
    func endOfQuoted(from quote: Int, in text: Span<UInt8>) -> Int {
        var index = quote + 1
        while index < end, text[index] != ASCII.quote { index += text[index] == ASCII.backslash ? 2 : 1 }
        return index + 1
    }

    @inlinable
    func startOfLast(in text: Span<UInt8>) -> Int {
        var isQuoted = false
        var index = end
        while index > start {
            let byte = text[index - 1]
            if byte == separator, !isQuoted { return index }
            let isEscaped = isQuoted && index > start + 1 && text[index - 2] == ASCII.backslash
            if byte == ASCII.quote, !isEscaped { isQuoted.toggle() }
            index -= 1
        }
        return start
    }
}
