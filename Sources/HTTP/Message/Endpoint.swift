internal import Glibc
internal import Primitives

/// The address of a socket: an IP address with a port, or the path of a Unix socket.
package enum Endpoint: Sendable, Hashable {
    case ip(IPAddress, port: UInt16)
    case unix(path: String)

    /// The endpoint as in a URL or a log line.
    package var text: String {
        switch self {
        case .ip(let address, let port):
            address.isIPv4 ? "\(address.text):\(port)" : "[\(address.text)]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    package var urlText: String {
        switch self {
        case .ip: "http://\(text)"
        case .unix: text
        }
    }

    /// True if two sockets that do not share their port (`SO_REUSEPORT`) cannot listen at both.
    ///
    /// The IPv6 wildcard also accepts IPv4.
    package func overlaps(_ other: Endpoint) -> Bool {
        guard self != other else { return true }
        guard case .ip(let one, let port) = self, case .ip(let two, port: port) = other else { return false }
        return [(one, two), (two, one)].contains { wide, narrow in
            wide.isWildcard && (narrow.isIPv4 || !wide.isIPv4)
        }
    }
}

/// An IPv4 or IPv6 address.
package struct IPAddress: Sendable, Hashable {
    /// The bytes in network order: 4 or 16.
    ///
    /// An IPv4 address mapped into IPv6 is stored as IPv4.
    package let bytes: [UInt8]

    package var isIPv4: Bool { bytes.count == 4 }

    /// True for 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        isIPv4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// True for 0.0.0.0 and ::, which stand for all addresses of the machine.
    package var isWildcard: Bool { bytes.allSatisfy { $0 == 0 } }

    /// True for fe80::/10.
    var isLinkLocal6: Bool { !isIPv4 && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 }

    /// Parses a numeric address; nil for other text.
    package init?(_ text: String) {
        // A NUL would hide the rest of the text from the system.
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        // Safe: the text is terminated, and the array holds the 4 or 16 bytes that the callee writes.
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: Array(bytes[..<4]))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// Takes 4 or 16 bytes in network order; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        self.bytes = isMapped ? [UInt8](bytes[12...]) : bytes
    }

    /// The bits as a number; an IPv4 address uses the low 32.
    package var bits: UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }

    /// The length of the IPv6 prefix that counts as one client: providers give a household or a server up to a /48
    /// (RFC 6177).
    package static let clientPrefix = 48

    /// Returns the bits that identify a client: a whole IPv4 address, mapped into IPv6, or a prefix of an IPv6
    /// address.
    package func clientBits(ipv6Prefix: Int = clientPrefix) -> UInt128 {
        if isIPv4 { return 0xFFFF << 32 | bits }
        let rest = min(max(0, 128 - ipv6Prefix), 127)
        return (bits >> UInt128(rest)) << UInt128(rest)
    }

    /// The usual text: dotted for IPv4, RFC 5952 for IPv6.
    package var text: String {
        isIPv4 ? textOfIPv4 : textOfIPv6
    }

    private var textOfIPv4: String {
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for byte in bytes {
            if !text.isEmpty { text.append(UInt8(ascii: ".")) }
            text.append(decimal: UInt64(byte))
        }
        return String(text.span)
    }

    private var textOfIPv6: String {
        let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        var longest = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            // RFC 5952 section 4.2: the longest run of at least two zero groups, the first one if several are
            // equal.
            if index - start > max(1, longest.count) { longest = start..<index }
            start = index + 1
        }
        let hex = { (range: Range<Int>) in range.map { String(groups[$0], radix: 16) }.joined(separator: ":")
        }
        return longest.isEmpty ? hex(0..<8) : "\(hex(0..<longest.lowerBound))::\(hex(longest.upperBound..<8))"
    }
}
