internal import Primitives

/// The checked parts of `uri-host [ ":" port ]` (RFC 9110 section 4.2, RFC 3986 section 3.2), without userinfo.
struct Authority {
    let host: Range<Int>
    let port: UInt16?
    private let hasCapitals: Bool

    /// Checks the whole span; nil unless it is a host with or without a port.
    init?(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        let isLiteral = bytes[0] == 0x5b  // [
        var hasCapitals = false
        let hostEnd =
            isLiteral ? Self.endOfLiteral(bytes, &hasCapitals) : Self.endOfName(bytes, &hasCapitals)
        guard let hostEnd, hostEnd > 0, let port = Self.port(bytes, after: hostEnd) else { return nil }
        host = 0..<hostEnd
        self.port = port
        self.hasCapitals = hasCapitals
    }

    /// Returns the authority in lower case, without a trailing colon.
    func normalized(_ bytes: Span<UInt8>) -> String {
        // Nearly all authorities arrive in normal form.
        if isNormal(bytes) { return String(bytes) }
        let host = String(bytes.extracting(host)).lowercased()
        guard let port else { return host }
        return "\(host):\(port)"
    }

    /// True without upper case, a trailing colon, or a port that begins with a zero.
    private func isNormal(_ bytes: Span<UInt8>) -> Bool {
        if hasCapitals { return false }
        return port == nil ? host.count == bytes.count : bytes[host.count + 1] != 0x30
    }

    // RFC 3986 3.2.2: reg-name = *( unreserved / pct-encoded / sub-delims ). The comma is refused: it would
    // make a list of hosts.
    private static func endOfName(_ bytes: Span<UInt8>, _ hasCapitals: inout Bool) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == ASCII.colon { return index }
            if byte == 0x25 {  // %
                guard index + 2 < bytes.count, ASCII.hexadecimal(bytes[index + 1]) != nil,
                    ASCII.hexadecimal(bytes[index + 2]) != nil
                else { return nil }
            } else if !isNameByte(byte) {
                return nil
            }
            hasCapitals = hasCapitals || isCapital(byte)
            index += 1
        }
        return index
    }

    private static func isCapital(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

    // Letters, digits and -._~!$&'()*+;= with one bit for each byte below 128.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        let word: UInt64 = byte < 64 ? 0x2bff_6fd2_0000_0000 : 0x47ff_fffe_87ff_fffe
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    // RFC 3986 3.2.2: IP-literal, but only IPv6 without a zone. The digits are not counted.
    private static func endOfLiteral(_ bytes: Span<UInt8>, _ hasCapitals: inout Bool) -> Int? {
        var colons = 0
        for index in 1..<bytes.count {
            switch bytes[index] {
            case ASCII.colon: colons += 1
            case 0x2e: break  // . of an embedded IPv4 address
            case 0x5d: return colons >= 2 ? index + 1 : nil  // ]
            case let byte where ASCII.hexadecimal(byte) != nil: hasCapitals = hasCapitals || isCapital(byte)
            default: return nil
            }
        }
        return nil
    }

    // The outer nil means malformed; the inner nil means no port or an empty one (port = *DIGIT).
    private static func port(_ bytes: Span<UInt8>, after hostEnd: Int) -> UInt16?? {
        guard hostEnd < bytes.count else { return .some(nil) }
        guard bytes[hostEnd] == ASCII.colon else { return nil }
        var port = 0
        for index in hostEnd + 1..<bytes.count {
            guard ASCII.isDigit(bytes[index]), port <= 65_535 else { return nil }
            port = port * 10 + Int(bytes[index] - 0x30)
        }
        guard hostEnd + 1 < bytes.count else { return .some(nil) }
        guard let number = UInt16(exactly: port) else { return nil }
        return number
    }
}
