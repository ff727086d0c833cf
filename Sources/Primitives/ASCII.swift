/// The byte classes of HTTP's grammars.
@usableFromInline package enum ASCII {
    @inlinable package static var tab: UInt8 { 0x09 }
    @inlinable package static var lineFeed: UInt8 { 0x0a }
    @inlinable package static var carriageReturn: UInt8 { 0x0d }
    @inlinable package static var space: UInt8 { 0x20 }
    @inlinable package static var quote: UInt8 { 0x22 }
    @inlinable package static var comma: UInt8 { 0x2c }
    @inlinable package static var colon: UInt8 { 0x3a }
    @inlinable package static var semicolon: UInt8 { 0x3b }
    @inlinable package static var equals: UInt8 { 0x3d }
    @inlinable package static var backslash: UInt8 { 0x5c }

    /// True for a `tchar` (RFC 9110 section 5.6.2), the bytes of methods and field names.
    @inlinable @inline(__always)
    package static func isToken(_ byte: UInt8) -> Bool {
        // One bit for each byte below 128.
        let word: UInt64 = byte < 64 ? 0x03ff_6cfa_0000_0000 : 0x57ff_ffff_c7ff_fffe
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// True for a letter, a digit or a hyphen, the bytes of nearly all field names.
    @inlinable @inline(__always)
    package static func isPlainName(_ byte: UInt8) -> Bool {
        let word: UInt64 = byte < 64 ? 0x03ff_2000_0000_0000 : 0x07ff_fffe_07ff_fffe
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// True for a byte that a field value may hold: HTAB, SP, VCHAR and obs-text (RFC 9110 section 5.5).
    @inlinable @inline(__always)
    package static func isFieldValue(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7f) || byte == tab
    }

    /// True for `VCHAR` of RFC 5234: printable and not a blank.
    @inlinable @inline(__always)
    package static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f }

    /// True for SP and HTAB, the optional white space around values and list members.
    @inlinable @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inlinable @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inlinable @inline(__always)
    package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    @inlinable @inline(__always)
    package static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    /// Returns letters A to Z in lower case, and every other byte unchanged.
    @inlinable @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns the value of a hexadecimal digit, nil for any other byte.
    @inlinable @inline(__always)
    package static func hexadecimal(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }
}
