/// Percent-encoding of URLs (RFC 3986 section 2.1).
enum PercentEncoding {
    /// Returns the value of a hexadecimal digit.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the byte that `%XX` at the offset encodes; nil without such a triple.
    static func triple(at offset: Int, in text: Span<UInt8>, limit: Int) -> UInt8? {
        guard offset + 2 < limit, text[offset] == UInt8(ascii: "%"), let high = digit(text[offset + 1]),
            let low = digit(text[offset + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Returns the bytes of the range with each `%XX` decoded; malformed triples stay.
    static func decoded(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if let byte = triple(at: index, in: text, limit: range.upperBound) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    /// Appends `%XX` with upper-case digits.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }
}
