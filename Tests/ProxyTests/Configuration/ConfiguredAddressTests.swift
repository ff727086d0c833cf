import HTTP
import Testing

@testable import Proxy

@Suite struct ConfiguredAddressTests {
    /// A name whose first label has as many bytes as one may have (RFC 1035 section 2.3.4), and one with a byte more.
    private static let longest = String(repeating: "a", count: 63) + ".test"
    private static let tooLong = "a" + longest

    @Test(arguments: [
        "", ":", ":x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
        "127.0.0.1:8 0",
        "1.2.3:80", "256.0.0.1:80", "::1:80", "[::1]", "[::1]80", "[127.0.0.1]:80", "[::1%lo]:80", "a b:80",
        "-a:80", "a-:80", "a..b:80", "\(tooLong):80", "unix:", "unix:run/x",
        "unix:/a\0b", "127.0.0.1:٨٠",
        "unix:/" + String(repeating: "x", count: 107),
    ])
    func `an address that cannot be listened on is refused`(text: String) {
        #expect(ConfiguredAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", ConfiguredAddress.tcp(host: "127.0.0.1", port: 8080)),
        ("[::1]:0", .tcp(host: "::1", port: 0)),
        ("localhost:65535", .tcp(host: "localhost", port: 65535)),
        ("\(longest):80", .tcp(host: longest, port: 80)),
        ("unix:/run/d.sock", .unix(path: "/run/d.sock")),
        (
            "unix:/" + String(repeating: "x", count: 106),
            .unix(path: "/" + String(repeating: "x", count: 106))
        ),
    ])
    func `an address is read and written back`(text: String, address: ConfiguredAddress) {
        #expect(ConfiguredAddress(text) == address)
        #expect(address.description == text)
    }

    @Test func `a port alone is every IPv4 address of this machine`() {
        #expect(ConfiguredAddress(":8080") == .tcp(host: "0.0.0.0", port: 8080))
    }

    @Test(arguments: [
        ("LocalHost:80", false), ("127.9.9.9:80", false), ("[::1]:80", false), ("unix:/run/d.sock", false),
        ("10.0.0.1:80", true), (":80", true), ("[::]:80", true), ("dictum.test:80", true),
    ])
    func `an address is this machine's alone by its loopback, by localhost, and by a Unix socket`(
        text: String, expected: Bool
    ) throws {
        #expect(try #require(ConfiguredAddress(text)).mayBeRemote == expected)
    }

    @Test(arguments: [
        "", "lo", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0/8", "::/129", "::ffff:10.0.0.0/104",
    ])
    func `a network that is none is refused`(text: String) {
        #expect(TrustedNetwork(text) == nil)
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 1, 2, 3]

    @Test(arguments: [
        ("10.0.0.0/8", [10, 255, 0, 1], true), ("10.0.0.0/8", [11, 0, 0, 0], false),
        ("10.0.0.0/8", mapped, true), ("10.1.2.3", [10, 1, 2, 3], true), ("10.1.2.3", [10, 1, 2, 4], false),
        ("0.0.0.0/0", [1, 2, 3, 4], true), ("::/0", [1, 2, 3, 4], false), ("0.0.0.0/0", [], false),
        ("192.0.2.128/25", [192, 0, 2, 127], false), ("192.0.2.128/25", [192, 0, 2, 128], true),
        ("2001:db8::/33", [0x20, 1, 0x0D, 0xB8, 0x7F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true),
        ("2001:db8::/33", [0x20, 1, 0x0D, 0xB8, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
        ("loopback", [127, 9, 9, 9], true), ("loopback", [128, 0, 0, 1], false),
        ("loopback", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true),
        ("loopback", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], false),
        ("loopback", [], false), ("unix", [], true), ("unix", [127, 0, 0, 1], false),
    ])
    func `a peer is trusted by the bits of its address`(text: String, peer: [UInt8], isTrusted: Bool) throws {
        // None stands for a Unix socket.
        let endpoint = IPAddress(bytes: peer).map { Endpoint.ip($0, port: 80) } ?? .unix(path: "/run/peer")
        let networks = [try #require(TrustedNetwork(text))]
        #expect(networks.contains(endpoint) == isTrusted)
    }
}

/// Addresses that stand twice in a configuration: the second could never be listened on.
@Suite struct AddressTwiceTests {
    private func mistakes(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try configuration(text)
            return []
        } catch {
            return error.lines(file: "f")
        }
    }

    @Test(arguments: [
        (
            "listeners: [{address: \"a:80\"}, {address: \"a:80\", reuse_port: on}]",
            "f:2:42: listeners[1].address is \"a:80\", which listeners[0] uses too: expected a different address"
        ),
        (
            "listeners: [{address: \"unix:/a\"}, {address: \"b:1\"}, {address: \"unix:/a\"}]",
            "f:2:63: listeners[2].address is \"unix:/a\", which listeners[0] uses too: expected a different address"
        ),
        (
            "admin: {address: \"b:1\"}\nlisteners: [{address: \"a:80\"}, {address: \"b:1\"}]",
            "f:2:18: admin.address is \"b:1\", which listeners[1] uses too: expected a different address"
        ),
        (
            "admin: {address: \"127.0.0.1:8080\"}",
            "f:2:18: admin.address is \"127.0.0.1:8080\", which listeners[0] uses too: expected a different address"
        ),
        (
            "listeners: [{address: \"127.0.0.1:9901\"}]",
            "f:2:23: admin.address is \"127.0.0.1:9901\" by default, which listeners[0] uses too: expected a different address"
        ),
        (
            "listeners: [{address: \"a:0\"}, {address: \"a:0\"}]",
            "f:2:41: listeners[1].address is \"a:0\", which listeners[0] uses too: expected a different address"
        ),
    ])
    func `an address that is given twice is a mistake at the second`(text: String, expected: String) {
        #expect(mistakes(text) == [expected])
    }

    @Test(arguments: [
        ("127.0.0.1:80", "0.0.0.0:80"), (":80", "127.0.0.1:80"), ("0.0.0.0:80", "[::]:80"),
        ("[::]:80", ":80"),
        ("[::1]:80", "[::]:80"), ("[::]:80", "192.0.2.1:80"), ("a:80", "[::]:80"), ("[::]:80", "a:80"),
        ("127.0.0.1:80", "[::ffff:127.0.0.1]:80"),
    ])
    func `an address that another one covers is a mistake, since a start would fail`(one: String, two: String)
    {
        let found = mistakes("listeners: [{address: \"\(one)\"}, {address: \"\(two)\"}]")
        let taken = ConfiguredAddress(one).map { String(describing: $0) } ?? ""
        let text = "listeners[1].address is \"\(two)\", which overlaps with \(taken) of listeners[0]: "
        #expect(found.count == 1 && found.first?.contains(text) == true, "\(found)")
        // So it is opened beside the other.
        #expect(mistakes("listeners: [{address: \"\(one)\"}, {address: \"\(two)\", reuse_port: on}]") == [])
        let admin = mistakes("listeners: [{address: \"\(one)\"}]\nadmin: {address: \"\(two)\"}")
        #expect(admin.count == 1 && admin.first?.hasPrefix("f:3:18: admin.address is ") == true, "\(admin)")
    }

    @Test(arguments: ["0.0.0.0:9901", "[::]:9901", ":9901"])
    func `an address that covers the admin listener's is a mistake, also of its default`(text: String) {
        let found = mistakes("listeners: [{address: \"\(text)\"}]")
        let start = "f:2:23: admin.address is \"127.0.0.1:9901\" by default, which overlaps with "
        #expect(found.count == 1 && found.first?.hasPrefix(start) == true, "\(found)")
    }

    @Test(arguments: [
        "listeners: [{address: \"0.0.0.0:1\"}, {address: \"[::1]:1\"}, {address: \"127.0.0.1:2\"}]",
        "listeners: [{address: \"127.0.0.1:1\"}, {address: \"127.0.0.2:1\"}, {address: \"[::1]:1\"}]",
        "listeners: [{address: \"0.0.0.0:0\"}, {address: \"127.0.0.1:0\"}]",
        "listeners: [{address: \"a:0\"}]\nadmin: {address: \"a:0\"}",
        "listeners: [{address: \"a:1\"}, {address: \"a:2\"}, {address: \"b:1\"}, {address: \"unix:/a\"}]",
        "listeners: [{address: \"127.0.0.1:9901\"}]\nadmin: off",
    ])
    func `addresses that differ, and ports that the system chooses, are fine`(text: String) {
        #expect(mistakes(text) == [])
    }

    @Test func `what cannot be read is taken for no other address`() {
        let found = mistakes("listeners:\n- address: \"127.0.0.1:8080\"\n- address: \"127.0.0.1\"")
        #expect(found.count == 1 && found.first?.hasPrefix("f:4:12: ") == true, "\(found)")
    }
}
