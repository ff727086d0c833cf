internal import HTTP
internal import Testing

@testable import Proxy

/// The admin listener's guard as the pure function that it is: over loopback the peer is always this machine.
struct AdminGuardTests {
    private static let token = "0123456789abcdef"
    private static let local = Endpoint.ip(address("127.0.0.1"), port: 1)
    private static let elsewhere = Endpoint.ip(address("192.0.2.7"), port: 1)

    private static func address(_ text: String) -> IPAddress {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is an address") }
        return address
    }

    private func status(
        _ lines: [String], from peer: Endpoint?, token: String? = nil, isChange: Bool
    ) throws -> Status? {
        let text = (["GET /metrics HTTP/1.1"] + lines + ["", ""]).joined(separator: "\r\n")
        var parser = HeadParser(limits: MessageLimits())
        let head = try #require(try parser.parseRequest(Array(text.utf8).span))
        return AdminGuard.refusal(head, peer: peer, token: token, isChange: isChange)?.status
    }

    @Test(
        arguments: [true, false],
        ["Host: localhost", "Host: 127.0.0.1:9901", "Host: [::1]", "Host: node7.test", "Host: 192.0.2.1"])
    func `another machine may nothing without the token, whatever Host it writes`(
        isChange: Bool, host: String
    )
        throws
    {
        let lines = [host, "Content-Type: application/json"]
        #expect(try status(lines, from: Self.elsewhere, isChange: isChange) == .forbidden)
        #expect(try status(lines, from: nil, isChange: isChange) == .forbidden)
        #expect(
            try status(lines, from: Self.elsewhere, token: Self.token, isChange: isChange) == .unauthorized)
        let right = lines + ["Authorization: Bearer \(Self.token)"]
        #expect(try status(right, from: Self.elsewhere, token: Self.token, isChange: isChange) == nil)
        #expect(try status(right, from: Self.elsewhere, isChange: isChange) == .forbidden, "no token is set")
    }

    @Test(arguments: ["Host: node7.test", "Host: 192.0.2.1", "Host: localhost.evil.test", "Host: 0.0.0.0"])
    func `from this machine another name is a page's, and refused`(host: String) throws {
        for isChange in [true, false] {
            let lines = [host, "Content-Type: application/json"]
            #expect(try status(lines, from: Self.local, isChange: isChange) == .forbidden)
            #expect(try status(lines, from: .unix(path: ""), isChange: isChange) == .forbidden)
        }
    }

    @Test(arguments: ["Host: localhost:9901", "Host: 127.1.2.3", "Host: [::1]:9901"])
    func `this machine's own names may read and change from this machine`(host: String) throws {
        for peer in [Self.local, .unix(path: ""), .ip(Self.address("::1"), port: 1)] {
            #expect(try status([host], from: peer, isChange: false) == nil)
            #expect(try status([host, "Content-Type: application/json"], from: peer, isChange: true) == nil)
        }
    }

    @Test(arguments: [
        "Bearer 0123456789abcdeX", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer", "Basic x",
        "",
    ])
    func `a wrong token is refused on this machine too`(value: String) throws {
        for isChange in [true, false] {
            let lines = ["Host: localhost", "Authorization: \(value)"]
            #expect(
                try status(lines, from: Self.local, token: Self.token, isChange: isChange) == .unauthorized)
        }
    }

    @Test func `of thousands of wrong tokens none will do`() throws {
        for number in 0..<4_096 {
            let lines = [
                "Host: localhost", "Authorization: Bearer 0123456789ab\(String(number + 0x1000, radix: 16))",
            ]
            #expect(try status(lines, from: Self.local, token: Self.token, isChange: false) == .unauthorized)
        }
    }

    @Test(arguments: [
        ("node7.test", "https://node7.test", true), ("node7.test", "https://node7.test:443", true),
        ("node7.test:443", "https://node7.test", true), ("node7.test:8443", "https://node7.test:8443", true),
        ("node7.test:80", "http://node7.test", true), ("node7.test:8443", "https://node7.test", false),
        ("node7.test", "http://node7.test:443", false), ("node7.test", "https://node8.test", false),
        ("node7.test", "ftp://node7.test", false),
    ])
    func `the page behind a front with TLS may change what its own host has, by the port of its scheme`(
        host: String, origin: String, isOwn: Bool
    ) throws {
        let lines = [
            "Host: \(host)", "Origin: \(origin)", "Content-Type: application/json",
            "Authorization: Bearer \(Self.token)",
        ]
        let refused = try status(lines, from: Self.elsewhere, token: Self.token, isChange: true)
        #expect(refused == (isOwn ? nil : Status.forbidden))
    }

    @Test func `a change needs JSON and no foreign origin, reading does not`() throws {
        let foreign = ["Host: localhost", "Origin: https://evil.test"]
        #expect(try status(foreign, from: Self.local, isChange: true) == .forbidden)
        #expect(try status(["Host: localhost"], from: Self.local, isChange: true) == .unsupportedMediaType)
        #expect(try status(foreign, from: Self.local, isChange: false) == nil)
    }
}
