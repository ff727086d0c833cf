/// The byte classes of HTTP's grammars.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2c
    static let colon: UInt8 = 0x3a
    static let semicolon: UInt8 = 0x3b
    static let equals: UInt8 = 0x3d
    static let backslash: UInt8 = 0x5c

    // RFC 9110 5.6.2: one bit for each byte below 128 that is a tchar.
    private static let tokenLow: UInt64 = 0x03ff_6cfa_0000_0000
    private static let tokenHigh: UInt64 = 0x57ff_ffff_c7ff_fffe

    /// True for a `tchar` (RFC 9110 section 5.6.2), the bytes of methods and field names.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? tokenLow : tokenHigh
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// True for a letter, a digit or a hyphen, the bytes of nearly all field names.
    @inline(__always)
    static func isPlainName(_ byte: UInt8) -> Bool {
        let word: UInt64 = byte < 64 ? 0x03ff_2000_0000_0000 : 0x07ff_fffe_07ff_fffe
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// True for a byte that a field value may hold: HTAB, SP, VCHAR and obs-text (RFC 9110 section 5.5).
    @inline(__always)
    static func isFieldValue(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7f) || byte == tab
    }

    /// True for `VCHAR` of RFC 5234: printable and not a blank.
    @inline(__always)
    static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f }

    /// True for SP and HTAB, the optional white space around values and list members.
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// True for a decimal digit.
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// True for a letter of either case.
    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    /// Returns letters A to Z in lower case, and every other byte unchanged.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns the value of a hexadecimal digit, nil for any other byte.
    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }
}
