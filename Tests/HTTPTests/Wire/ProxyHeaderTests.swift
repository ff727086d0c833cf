internal import Testing

@testable import HTTP

/// The PROXY protocol's header, versions 1 and 2, as its specification defines them.
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

    private func parse(_ bytes: [UInt8]) throws -> ProxyHeader? { try ProxyHeader.parse(bytes.span) }

    private func version2(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        Self.signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 255)] + rest
    }

    private func client(_ address: String, _ port: UInt16) throws -> Endpoint {
        .ip(try #require(IPAddress(address)), port: port)
    }

    @Test(
        "Version 1 names the client's address and port",
        arguments: [
            ("PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n", "203.0.113.7", 56324),
            ("PROXY TCP6 2001:db8::7 2001:db8::1 1 65535\r\n", "2001:db8::7", 1),
            // What HAProxy sends of IPv4 clients of an IPv6 socket.
            ("PROXY TCP6 ::ffff:203.0.113.7 ::ffff:192.0.2.1 1 443\r\n", "203.0.113.7", 1),
            ("PROXY TCP6 ::ffff:203.0.113.7 2001:db8::1 1 443\r\n", "203.0.113.7", 1),
        ])
    func version1(line: String, address: String, port: Int) throws {
        let header = try #require(try parse(wire(line) + wire("GET / HTTP/1.1\r\n")))
        #expect(header.client == (try client(address, UInt16(port))))
        #expect(header.byteCount == line.utf8.count)
    }

    @Test(
        "UNKNOWN leaves the connection its own peer, whatever follows the word",
        arguments: ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff:f...f:ffff what ever\r\n"])
    func unknown(line: String) throws {
        let header = try #require(try parse(wire(line)))
        #expect(header.client == nil)
    }

    @Test("Cut at every byte, a header asks for more and is never misread")
    func prefixes() throws {
        let lines = [
            wire("PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n"),
            version2(0x21, 0x11, [203, 0, 113, 7, 192, 0, 2, 1, 0xDC, 0x04, 0x01, 0xBB]),
        ]
        for line in lines {
            for end in 0..<line.count { #expect(try parse([UInt8](line[..<end])) == nil) }
            #expect(try parse(line)?.byteCount == line.count)
        }
    }

    @Test(
        "What is no header is refused, and nothing is guessed",
        arguments: [
            "GET / HTTP/1.1\r\n", "PROXX", "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\n",
            "PROXY TCP4 203.0.113.7 192.0.2.1 56324\r\n", "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443 1\r\n",
            "PROXY TCP4 2001:db8::7 192.0.2.1 1 2\r\n", "PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n",
            "PROXY TCP4 ::ffff:203.0.113.7 ::ffff:192.0.2.1 1 2\r\n",
            "PROXY TCP6 ::ffff:203.0.113.7 192.0.2.1 1 2\r\n",
            "PROXY TCP4 203.0.113.7 192.0.2.1 65536 443\r\n", "PROXY TCP4 203.0.113.7 192.0.2.1 +1 443\r\n",
            "PROXY  TCP4 203.0.113.7 192.0.2.1 1 443\r\n", "PROXY UDP4 203.0.113.7 192.0.2.1 1 443\r\n",
            "PROXY\r\n", "PROXY TCP4 203.0.113.7\u{0} 192.0.2.1 1 443\r\n",
        ])
    func malformedVersion1(line: String) throws {
        #expect(throws: ProxyHeaderError.self) { try parse(wire(line)) }
    }

    @Test("A line of 107 bytes is taken, one that has not ended by then is refused")
    func lineLimit() throws {
        let longest = "PROXY UNKNOWN " + String(repeating: "x", count: 91) + "\r\n"
        #expect(longest.utf8.count == 107)
        #expect(try parse(wire(longest))?.byteCount == 107)
        #expect(throws: ProxyHeaderError.self) {
            try parse(wire("PROXY UNKNOWN " + String(repeating: "x", count: 93)))
        }
    }

    @Test("Version 2 names the client, and additions that are not known are passed over")
    func version2Addresses() throws {
        let addresses: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 1, 0xDC, 0x04, 0x01, 0xBB]
        let header = try #require(
            try parse(version2(0x21, 0x11, addresses + [0x04, 0, 2, 9, 9]) + wire("GET")))
        #expect(header.client == (try client("203.0.113.7", 0xDC04)))
        #expect(header.byteCount == 16 + 12 + 5)
        let six = [UInt8](repeating: 0x20, count: 32) + [0, 80, 1, 187]
        #expect(
            try parse(version2(0x21, 0x21, six))?.client
                == (try client("2020:2020:2020:2020:2020:2020:2020:2020", 80)))
    }

    @Test("LOCAL, an unspecified family and unix sockets leave the connection its own peer")
    func noClient() throws {
        #expect(try parse(version2(0x20, 0x11, [UInt8](repeating: 1, count: 12)))?.client == nil)
        #expect(try parse(version2(0x21, 0x00, [1, 2, 3]))?.client == nil)
        #expect(try parse(version2(0x21, 0x31, [UInt8](repeating: 0, count: 216)))?.client == nil)
    }

    @Test("The addition for TLS says whether the client's connection was secure")
    func security() throws {
        let addresses: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 1, 0xDC, 0x04, 0x01, 0xBB]
        #expect(
            try parse(version2(0x21, 0x11, addresses + [0x20, 0, 5, 1, 0, 0, 0, 0]))?.isClientTLS == true)
        #expect(
            try parse(version2(0x21, 0x11, addresses + [0x20, 0, 5, 0, 0, 0, 0, 0]))?.isClientTLS == false)
        // PP2_CLIENT_SSL is one bit; those beside it tell of the client's certificate.
        for (flags, isTLS) in [(7, true), (6, false)] as [(UInt8, Bool)] {
            let addition: [UInt8] = [0x20, 0, 5, flags, 0, 0, 0, 0]
            #expect(try parse(version2(0x21, 0x11, addresses + addition))?.isClientTLS == isTLS)
        }
        #expect(try parse(version2(0x21, 0x11, addresses))?.isClientTLS == nil)
        #expect(try parse(version2(0x21, 0x11, addresses + [0x20, 0, 0]))?.isClientTLS == nil)
    }

    @Test("Version 2 with another version, command, family or length is refused")
    func malformedVersion2() throws {
        let addresses = [UInt8](repeating: 1, count: 12)
        for bytes in [
            version2(0x11, 0x11, addresses), version2(0x22, 0x11, addresses), version2(0x21, 0x12, addresses),
            version2(0x21, 0x11, [UInt8](addresses.dropLast())),
            version2(0x21, 0x11, addresses + [0x20, 0, 9]),
            version2(0x21, 0x11, addresses + [0x20]), Self.signature + [0x21, 0x11, 0xFF, 0xFF],
            [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 11],
        ] {
            #expect(throws: ProxyHeaderError.self) { try parse(bytes) }
        }
    }

    @Test("A header of 4,096 bytes is taken, one that says it is longer is refused before it has come")
    func lengthLimit() throws {
        let addresses = [UInt8](repeating: 1, count: 12)
        let filler = 4096 - 16 - 12 - 3
        let longest = version2(
            0x21, 0x11,
            addresses + [4, UInt8(filler >> 8), UInt8(filler & 255)] + [UInt8](repeating: 0, count: filler))
        #expect(try parse(longest)?.byteCount == 4096)
        #expect(throws: ProxyHeaderError.self) { try parse(Self.signature + [0x21, 0x11, 0x0F, 0xF1]) }
    }
}
