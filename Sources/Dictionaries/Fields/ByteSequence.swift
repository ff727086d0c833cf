/// The Base64 of a structured-field Byte Sequence (RFC 9651 section 4.2.7): the standard alphabet, in which padding
/// may be missing.
enum ByteSequence {
    /// Returns the bytes that the text encodes; nil if it is not Base64.
    static func decoded(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8]? {
        var end = range.upperBound
        while end > range.lowerBound, text[end - 1] == UInt8(ascii: "="), range.upperBound - end < 2 {
            end -= 1
        }
        if range.upperBound > end, range.count % 4 != 0 { return nil }
        guard (end - range.lowerBound) % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity((end - range.lowerBound) * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for index in range.lowerBound..<end {
            guard let value = sextet(text[index]) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        return bytes
    }

    /// Returns the six bits that a character encodes; nil if it is outside the alphabet.
    static func sextet(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
