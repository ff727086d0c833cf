/// A second reader of chunked bodies, as simple as the grammar of RFC 9112 section 7.1 and blind to limits, for comparison.
///
/// It reads a whole body that ends with its trailer section, and ignores the contents of extensions and trailers.
enum PlainChunks {
    /// Returns the data, or nil if the bytes are not such a body.
    static func read(_ bytes: [UInt8]) -> [UInt8]? {
        var data: [UInt8] = []
        var rest = bytes[...]
        while let line = takeLine(&rest) {
            let digits = line.prefix { isHexadecimal($0) }
            let extensions = line.dropFirst(digits.count).drop { $0 == 0x20 || $0 == 0x09 }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
                extensions.isEmpty || extensions.first == UInt8(ascii: ";")
            else { return nil }
            if size == 0 { return endsWithTrailers(&rest) ? data : nil }
            guard size <= rest.count - 2, rest.dropFirst(size).starts(with: [13, 10]) else { return nil }
            data += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return nil
    }

    private static func endsWithTrailers(_ rest: inout ArraySlice<UInt8>) -> Bool {
        while let line = takeLine(&rest) {
            if line.isEmpty { return rest.isEmpty }
            guard line.contains(UInt8(ascii: ":")) else { return false }
        }
        return false
    }

    /// Returns the bytes up to CRLF, or nil if CRLF is missing or a bare CR or LF comes first.
    private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(where: { $0 == 13 || $0 == 10 }), rest[end...].starts(with: [13, 10])
        else { return nil }
        defer { rest = rest[(end + 2)...] }
        return rest[..<end]
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
