// What the standard library does not yet offer for spans; the pointers of this module are in this file alone.

extension [UInt8] {
    /// Appends a copy of a span, as one block.
    package mutating func append(_ bytes: Span<UInt8>) {
        // Safe: the pointer is used only within the call, while the span is alive.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends the bytes of a literal.
    package mutating func append(_ text: StaticString) {
        // Safe: the literal lives as long as the program, and the pointer does not leave the closure.
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits, without leading zeros.
    package mutating func append(decimal number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(0x30 + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}

extension String {
    /// Decodes UTF-8; a byte that is none becomes U+FFFD, so compare spans where identity matters.
    package init(_ bytes: Span<UInt8>) {
        // Safe: the pointer is used only within the call, while the span is alive.
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension Span<UInt8> {
    /// Compares byte by byte, letters A to Z without regard to case.
    func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != ASCII.lowercased(other[index]) {
            return false
        }
        return true
    }

    /// Compares with a literal, letters A to Z without regard to case.
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        // Safe: the literal lives as long as the program, and its span does not leave the closure.
        text.withUTF8Buffer { unsafe equalsIgnoringCase($0.span) }
    }

    /// Compares byte for byte.
    func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Compares byte for byte with a literal.
    func equals(_ text: StaticString) -> Bool {
        // Safe: the literal lives as long as the program, and its span does not leave the closure.
        text.withUTF8Buffer { unsafe equals($0.span) }
    }

    /// Tells whether it begins with a literal, letters A to Z without regard to case.
    func hasPrefixIgnoringCase(_ text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && extracting(first: text.utf8CodeUnitCount).equalsIgnoringCase(text)
    }

    /// The part without blanks (SP, HTAB) at either end.
    func trimmedRange(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while lower < upper, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}
