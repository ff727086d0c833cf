internal import Primitives

/// A PROXY protocol header, version 1 or 2 of HAProxy's specification, with the client's address.
package struct ProxyHeader: Equatable, Sendable {
    /// The address of the proxy's client; nil if the proxy connects for itself or does not tell.
    package let client: Endpoint?
    /// True if the client's connection to the proxy was TLS; nil if the proxy does not tell.
    package let isClientTLS: Bool?
    /// The length of the header; the bytes behind it are the client's.
    package let byteCount: Int

    /// The length of the longest accepted header; version 2 allows 64 KiB of additions, far more than proxies send.
    package static let byteCountMax = 4096

    /// Reads the header at the beginning of a connection; nil if more bytes are needed.
    ///
    /// Strict: a listener that expects the header accepts nothing else, or any client could claim an address.
    package static func parse(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> ProxyHeader? {
        guard bytes.count > 0 else { return nil }
        return bytes[0] == signature[0] ? try parseVersion2(bytes) : try parseVersion1(bytes)
    }

    // MARK: Version 1: a line of text

    private static let lineBytesMax = 107

    private static func parseVersion1(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> ProxyHeader? {
        let known = bytes.extracting(0..<min(bytes.count, lineBytesMax))
        guard starts(known, with: Array("PROXY ".utf8)) else { throw ProxyHeaderError() }
        guard let end = known.indices.first(where: { known[$0] == UInt8(ascii: "\n") }) else {
            guard bytes.count < lineBytesMax else { throw ProxyHeaderError() }
            return nil
        }
        guard known[end - 1] == UInt8(ascii: "\r") else { throw ProxyHeaderError() }
        let line = String(known.extracting(0..<end - 1))
        return ProxyHeader(client: try client(in: line), isClientTLS: nil, byteCount: end + 1)
    }

    private static func client(in line: String) throws(ProxyHeaderError) -> Endpoint? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        // The words behind UNKNOWN are to be ignored.
        if words.count >= 2, words[1] == "UNKNOWN" { return nil }
        guard words.count == 6, let address = IPAddress(String(words[2])),
            IPAddress(String(words[3])) != nil, let port = self.port(words[4]),
            self.port(words[5]) != nil, family(words[2]) == words[1], family(words[3]) == words[1]
        else { throw ProxyHeaderError() }
        return .ip(address, port: port)
    }

    /// By the spelling: a proxy with IPv6 sockets names IPv4 clients as `::ffff:192.0.2.1`, which are IPv4 here.
    private static func family(_ address: Substring) -> Substring { address.contains(":") ? "TCP6" : "TCP4" }

    private static func port(_ digits: Substring) -> UInt16? {
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return UInt16(digits)
    }

    // MARK: Version 2: bytes

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let fixedBytes = 16

    private static func parseVersion2(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> ProxyHeader? {
        guard starts(bytes, with: signature) else { throw ProxyHeaderError() }
        guard bytes.count >= fixedBytes else { return nil }
        let end = fixedBytes + Int(bytes[14]) << 8 + Int(bytes[15])
        guard bytes[12] >> 4 == 2, end <= byteCountMax else { throw ProxyHeaderError() }
        guard bytes.count >= end else { return nil }
        let rest = bytes.extracting(fixedBytes..<end)
        switch bytes[12] & 0x0F {
        case 0:
            // LOCAL: the proxy's own connection, such as a health check.
            return ProxyHeader(client: nil, isClientTLS: nil, byteCount: end)
        case 1:
            let (client, used) = try client(family: bytes[13], rest)
            let isTLS = try isTLS(rest.extracting(used..<rest.count))
            return ProxyHeader(client: client, isClientTLS: isTLS, byteCount: end)
        default:
            throw ProxyHeaderError()
        }
    }

    /// Returns the source address, and the number of bytes of the addresses.
    private static func client(family: UInt8, _ bytes: Span<UInt8>) throws(ProxyHeaderError)
        -> (Endpoint?, Int)
    {
        let width: Int
        switch family {
        case 0x11: width = 4
        case 0x21: width = 16
        // The paths of a Unix socket do not tell the client, and without a family there are no addresses.
        case 0x31: return (nil, try checked(216, bytes))
        case 0x00: return (nil, bytes.count)
        default: throw ProxyHeaderError()
        }
        let used = try checked(2 * width + 4, bytes)
        var address: [UInt8] = []
        address.append(bytes.extracting(0..<width))
        let port = UInt16(bytes[2 * width]) << 8 | UInt16(bytes[2 * width + 1])
        guard let address = IPAddress(bytes: address) else { throw ProxyHeaderError() }
        return (.ip(address, port: port), used)
    }

    private static func checked(_ count: Int, _ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Int {
        guard bytes.count >= count else { throw ProxyHeaderError() }
        return count
    }

    /// True if the addition PP2_TYPE_SSL says that the client used TLS; nil without that addition.
    private static func isTLS(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Bool? {
        var isTLS: Bool?
        var offset = 0
        while offset < bytes.count {
            guard offset + 3 <= bytes.count else { throw ProxyHeaderError() }
            let end = offset + 3 + Int(bytes[offset + 1]) << 8 + Int(bytes[offset + 2])
            guard end <= bytes.count else { throw ProxyHeaderError() }
            if bytes[offset] == 0x20, end > offset + 3 { isTLS = bytes[offset + 3] & 1 == 1 }
            offset = end
        }
        return isTLS
    }

    /// True if the bytes agree with the prefix as far as they go.
    private static func starts(_ bytes: Span<UInt8>, with prefix: [UInt8]) -> Bool {
        (0..<min(bytes.count, prefix.count)).allSatisfy { bytes[$0] == prefix[$0] }
    }
}

/// The connection does not begin with a valid PROXY protocol header.
package struct ProxyHeaderError: Error, Equatable {}
