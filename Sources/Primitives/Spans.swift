#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

// Operations that the standard library does not yet offer for spans. All pointers of this module to spans and texts
// are in this file.

#if canImport(Darwin)
extension Array where Element: BitwiseCopyable {
    /// The elements in place: the library has this from iOS 26 and macOS 26 on, and its slices have it everywhere.
    package var span: Span<Element> {
        @_lifetime(borrow self) get {
            // Safe: elements without a class are always in the array's own buffer, and a slice of the whole has that buffer.
            let elements = self[...]
            return unsafe _overrideLifetime(elements.span, borrowing: self)
        }
    }
}

extension StringProtocol {
    /// The bytes in UTF-8, as a copy: the span of the view is there from iOS 26 and macOS 26 on.
    package var utf8Bytes: [UInt8] { Array(utf8) }
}
#else
extension StringProtocol {
    /// The bytes in UTF-8, which have a span.
    @inlinable
    package var utf8Bytes: UTF8View { utf8 }
}
#endif

extension [UInt8] {
    @inlinable
    package init(copying bytes: Span<UInt8>) {
        self = []
        append(bytes)
    }

    /// Appends a copy of a span as one block.
    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        // Safe: the pointer is used only within the call, while the span is alive.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    @inlinable
    package mutating func append(_ text: StaticString) {
        // Safe: the literal lives as long as the program, and the pointer does not leave the closure.
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends CR and LF.
    @inlinable
    package mutating func appendLineEnd() {
        append(ASCII.carriageReturn)
        append(ASCII.lineFeed)
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

extension [UInt8] {
    /// Compares byte by byte, at the speed of memory; `==` takes twelve times as long.
    package func equals(_ other: [UInt8]) -> Bool {
        span.equals(other.span)
    }
}

extension String {
    /// Decodes UTF-8.
    ///
    /// An invalid byte becomes U+FFFD, so compare spans where identity matters.
    @inlinable
    package init(_ bytes: Span<UInt8>) {
        // Safe: the pointer is used only within the call, while the span is alive.
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

// MARK: - Comparison

extension Span<UInt8> {
    @inlinable
    package func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // The call of memcmp pays off from a few words on; `==` of arrays takes twelve times as long.
        if count >= 32 { return hasSameMemory(as: other) }
        var index = 0
        while index + 8 <= count {
            // Safe: eight bytes from here on lie within both spans, and every pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            guard
                unsafe word
                    == other.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            else { return false }
            index += 8
        }
        while index < count {
            guard self[index] == other[index] else { return false }
            index += 1
        }
        return true
    }

    @usableFromInline
    func hasSameMemory(as other: Span<UInt8>) -> Bool {
        // Safe: both are valid for their equal count during the call; without bytes the addresses may be nil.
        unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return unsafe first == second || memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Compares byte by byte with a literal.
    @inlinable
    package func equals(_ text: StaticString) -> Bool {
        // Safe: the literal lives as long as the program, and its span does not leave the closure.
        text.withUTF8Buffer { unsafe equals($0.span) }
    }

    /// Compares byte by byte, ignoring the case of letters A to Z.
    @inlinable
    package func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices {
            let (byte, expected) = (self[index], other[index])
            // Nearly all bytes are equal as they are.
            if byte != expected, ASCII.lowercased(byte) != ASCII.lowercased(expected) { return false }
        }
        return true
    }

    /// Compares with a literal, ignoring the case of letters A to Z.
    @inlinable
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        // Safe: the literal lives as long as the program, and its span does not leave the closure.
        text.withUTF8Buffer { unsafe equalsIgnoringCase($0.span) }
    }

    /// Compares with bytes that all have bit 0x20 set, after setting that bit in these.
    @inlinable
    package func equalsSmall(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else {
            for index in indices where self[index] | 0x20 != other[index] { return false }
            return true
        }
        var index = 0
        while true {
            // Safe: eight bytes from here on lie within both spans, and every pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let small = unsafe other.bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: index, as: UInt64.self)
            guard word | 0x2020_2020_2020_2020 == small else { return false }
            if index == count - 8 { return true }
            // The last eight may overlap bytes that were compared before.
            index = Swift.min(index + 8, count - 8)
        }
    }

    /// True if the span begins with a literal, ignoring the case of letters A to Z.
    package func hasPrefixIgnoringCase(_ text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && extracting(first: text.utf8CodeUnitCount).equalsIgnoringCase(text)
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without blanks (SP, HTAB) at either end.
    package var trimmed: SubSequence {
        var bytes = self[...]
        while let first = bytes.first, ASCII.isBlank(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, ASCII.isBlank(last) { bytes = bytes.dropLast() }
        return bytes
    }
}

extension Substring {
    /// The text without blanks (SP, HTAB) at either end.
    package var trimmed: String { String(Substring(utf8.trimmed)) }
}

// MARK: - Search

extension Span<UInt8> {
    /// Returns the range without blanks (SP, HTAB) at either end.
    @inlinable
    package func trimmedRange(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while lower < upper, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    /// Returns the index of the first byte with this value, nil if there is none.
    @inlinable
    package func firstIndex(of byte: UInt8) -> Int? {
        let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
        var index = 0
        while index + 8 <= count {
            // Safe: eight bytes from here on lie within the span, and every pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let difference = UInt64(littleEndian: word) ^ pattern
            // The lowest bit that is left belongs to the first equal byte.
            let equals = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            if equals != 0 { return index + equals.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Returns the index of the first byte in `range` that no field value may hold (RFC 9110 section 5.5), else
    /// the range's end.
    @inlinable
    package func endOfFieldValue(_ range: Range<Int>) -> Int {
        let end = Swift.min(range.upperBound, count)
        var index = range.lowerBound
        while index + 8 <= end {
            // Safe: eight bytes from here on lie within the span, as no index is negative; every pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let suspect = Self.firstControl(in: UInt64(littleEndian: word))
            index += suspect
            if suspect == 8 { continue }
            // HTAB is below SP too, but allowed.
            guard ASCII.isFieldValue(self[index]) else { return index }
            index += 1
        }
        return endOfFieldValue(from: index, to: end)
    }

    // Checks the last bytes, fewer than eight, with one load that overlaps earlier bytes where there are enough.
    @inlinable
    package func endOfFieldValue(from start: Int, to end: Int) -> Int {
        var index = start
        if end >= 8, index < end {
            // Safe: eight bytes before `end` lie within the span, and every pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: end - 8, as: UInt64.self)
            let rest = UInt64(littleEndian: word) >> UInt64(64 - 8 * (end - index))
            index = Swift.min(index + Self.firstControl(in: rest), end)
        }
        while index < end, ASCII.isFieldValue(self[index]) { index += 1 }
        return index
    }

    // Returns the place of the first byte of a word, lowest first, that is below SP or is DEL; 8 if there is none.
    // A borrow can only affect bytes behind a match.
    @inlinable
    package static func firstControl(in word: UInt64) -> Int {
        let deletes = word ^ 0x7f7f_7f7f_7f7f_7f7f
        let belowSpace = (word &- 0x2020_2020_2020_2020) & ~word
        let isDelete = (deletes &- 0x0101_0101_0101_0101) & ~deletes
        return ((belowSpace | isDelete) & 0x8080_8080_8080_8080).trailingZeroBitCount / 8
    }
}
