/// Base64 (RFC 4648 sections 4 and 5).
package enum Base64 {
    private static let standard = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Returns the bytes in the standard alphabet with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: standard, padded: true)
    }

    /// Returns the bytes in the alphabet for URLs and file names, without padding.
    package static func encodeURL(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: url, padded: false)
    }

    /// Reads the standard alphabet with padding; nil unless the text is canonical.
    package static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0,
            !text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        let translated = text.utf8.dropLast(padding).map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return decodeURL(String(decoding: translated, as: UTF8.self))
    }

    /// Reads base64url without padding; nil unless the text is canonical.
    package static func decodeURL(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt32 = 0
        var pendingBits = 0
        for character in text.utf8 {
            guard let value = value(ofURLCharacter: character) else { return nil }
            pending = pending << 6 | value
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
                pending &= (1 << UInt32(pendingBits)) - 1
            }
        }
        // RFC 4648 section 3.5: unused bits must be zero, so that each value has one spelling.
        return pendingBits < 6 && pending == 0 ? bytes : nil
    }

    private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << ((3 - group.count) * 8)
            for index in 0...group.count { text.append(alphabet[bits >> (18 - 6 * index) & 63]) }
            if padded { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - group.count)) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(ofURLCharacter character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
