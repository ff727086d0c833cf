internal import Glibc

/// An IPv4 or IPv6 address.
///
/// An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`, RFC 4291 section 2.5.5.2) is the IPv4 address.
package struct IPAddress: Sendable, Hashable {
    /// Whether the address has 32 bits, else it has 128.
    package let isIPv4: Bool
    /// The bits, those of an IPv4 address in the low 32.
    let bits: UInt128

    /// The address in its text form, without brackets or zone; nil for anything else.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isIPv6 = text.utf8.contains(UInt8(ascii: ":"))
        guard text.utf8.count <= 45 else { return nil }
        // Safe: inet_pton writes 4 or 16 bytes by the family, and the array has 16; the text ends with NUL.
        guard unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        self.init(bytes: isIPv6 ? bytes : Array(bytes.prefix(4)))
    }

    /// The address of 4 or 16 bytes in network order; nil for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let isMapped = value >> 32 == 0xFFFF
        isIPv4 = bytes.count == 4 || isMapped
        bits = isIPv4 ? value & 0xFFFF_FFFF : value
    }
}
