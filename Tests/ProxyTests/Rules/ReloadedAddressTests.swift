internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

private let old = Feed.bytes(version: 0, items: 40)

/// Which addresses a reload may take over, and from whom.
@Suite(.timeLimit(.minutes(40))) struct ReloadedAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "0.0.0.0"), ("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "[::]"), ("[::]", "127.0.0.1"),
    ])
    func `the admin listener takes the port over, from its own former address and from a listener`(
        former: String, next: String
    ) throws {
        let port = try freePort()
        let proxy = try TestProxy(Origin(json(old)), #"admin: {address: "\#(former):\#(port)"}"#)
        // The former socket closes a moment after the reload, with those who have just connected there.
        func awaitAdmin() throws {
            try waitUntil("the admin listener responds") {
                (try? proxy.admin("GET /readyz HTTP/1.1", "Host: x").status) == 200
            }
        }
        try proxy.reload(#"admin: {address: "\#(next):\#(port)"}"#)
        try awaitAdmin()
        try proxy.reload(
            """
            listeners: [{address: "\(former):\(port)"}]
            admin: {address: "127.0.0.1:0"}
            """)
        try waitUntil("the listener responds") {
            guard let client = try? WireSocket(port: port) else { return false }
            client.send(request("/feed", []))
            return (try? client.receive().carries(old)) == true
        }
        try proxy.reload(#"admin: {address: "\#(next):\#(port)"}"#)
        try awaitAdmin()
    }

    @Test func `a port that another program shares at another address refuses the reload`() throws {
        let port = try freePort()
        let proxy = try TestProxy(Origin(json(old)), #"listeners: [{address: "127.0.0.1:\#(port)"}]"#)
        let other = try #require(IPAddress("127.0.0.2"))
        // It shares its port, as the sockets of this program do.
        let foreign = try ListeningSocket.open(.ip(other, port: port), count: 1)
        for settings in [
            #"listeners: [{address: "127.0.0.2:\#(port)"}]"#, #"admin: {address: "127.0.0.2:\#(port)"}"#,
        ] {
            let error = try #require(throws: StartError.self) { try proxy.reload(settings) }
            #expect(error.description.contains("127.0.0.2:\(port)"))
        }
        #expect(proxy.server.endpoints.map(\.text) == ["127.0.0.1:\(port)"])
        withExtendedLifetime(foreign) {}
    }

    @Test
    func
        `an address that a listener which stays has under another name refuses the reload, as it would the start`()
        throws
    {
        let port = try freePort()
        let listeners = #"{address: "127.0.0.1:\#(port)"}"#
        let proxy = try TestProxy(Origin(json(old)), "listeners: [\(listeners)]")
        // The system resolves this name to 127.0.0.1; `localhost` may be ::1.
        #expect(throws: StartError.self) {
            try proxy.reload(#"listeners: [\#(listeners), {address: "0x7f000001:\#(port)"}]"#)
        }
        #expect(try proxy.fetch("/feed").carries(old))
    }
}
