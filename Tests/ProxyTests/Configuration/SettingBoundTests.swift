internal import HTTP
internal import Testing

@testable import Proxy

/// The least and the greatest of what settings take.
struct SettingBoundTests {
    @Test(
        arguments: [
            ("199", nil, nil), ("200", 200, 200), ("599", 599, 599), ("600", nil, nil), ("1xx", nil, nil),
            ("2xx", 200, 299), ("5xx", 500, 599), ("6xx", nil, nil), ("200-200", 200, 200),
            ("204-399", 204, 399), ("300-299", nil, nil), ("200-299-300", nil, nil),
        ] as [(String, Int?, Int?)])
    func `an expected status is a final one`(text: String, first: Int?, last: Int?) {
        let expected = ExpectedStatus(text)
        #expect((expected == nil) == (first == nil))
        guard let expected, let first, let last else { return }
        let contained = [first - 1, first, last, last + 1].map { expected.contains($0) }
        #expect(contained == [false, true, true, false])
        #expect(ExpectedStatus(expected.description) == expected)
    }

    @Test(arguments: [
        ("loopback", "127.255.255.255", true), ("loopback", "128.0.0.0", false), ("loopback", "::1", true),
        ("loopback", "::2", false), ("unix", "127.0.0.1", false), ("10.0.0.0/8", "10.255.255.255", true),
        ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "9.255.255.255", false),
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.0", false), ("0.0.0.0/0", "::1", false),
        ("::/0", "10.0.0.1", false), ("2001:db8::/33", "2001:db8:8000::", false),
        ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::1", "2001:db8::", false),
    ])
    func `a trusted network has the addresses of its block and no others`(
        network: String, address: String, isTrusted: Bool
    ) throws {
        let network = try #require(TrustedNetwork(network))
        let address = try #require(IPAddress(address))
        #expect(network.contains(address) == isTrusted)
    }

    @Test func `a prefix is at most as long as its address`() {
        #expect(TrustedNetwork("10.0.0.0/32") != nil && TrustedNetwork("10.0.0.0/33") == nil)
        #expect(TrustedNetwork("::/128") != nil && TrustedNetwork("::/129") == nil)
        #expect(TrustedNetwork("::ffff:10.0.0.0/32") == nil)
    }

    @Test func `a prefix to strip has at most 1024 bytes`() {
        #expect(PathPrefix("/" + String(repeating: "a", count: 1023)) != nil)
        #expect(PathPrefix("/" + String(repeating: "a", count: 1024)) == nil)
    }

    @Test func `a path has at most 4096 bytes`() {
        let longest = String(repeating: "a", count: 4096)
        #expect(mistakes("store: {path: \"\(longest)\"}") == [])
        #expect(mistakes("store: {path: \"a\(longest)\"}").count == 1)
    }
}
