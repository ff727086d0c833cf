internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

/// `client` and `forwarder` in the access log.
@Suite(.timeLimit(.minutes(40))) struct LoggedClientTests {
    /// The line of a request with a field, on a connection from 127.0.0.1.
    private func line(_ field: String, _ settings: String = "") throws -> String {
        let proxy = try TestProxy(try Origin(json(Array("{}".utf8))), settings, isLogged: true)
        #expect(try proxy.fetch("/a", field).status == 200)
        return try #require(proxy.lastLines().first)
    }

    @Test(arguments: [
        ("X-Forwarded-For: 192.0.2.1", "192.0.2.1"),
        ("X-Forwarded-For: 8.8.8.8, 192.0.2.1:4711", "192.0.2.1"),
        ("X-Forwarded-For: 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        (#"Forwarded: for="[2001:db8::1]:80";proto=http"#, "2001:db8::1"),
    ])
    func `whom a trusted proxy names is the client, and the proxy its forwarder`(
        field: String, client: String
    )
        throws
    {
        let line = try line(field, "trusted_proxies: [loopback, 10.0.0.0/8]")
        #expect(line.contains(#""client":"\#(client)","forwarder":"127.0.0.1","method""#), "\(line)")
    }

    @Test(arguments: [
        "X-Other: 1", "X-Forwarded-For: 10.1.2.3", "X-Forwarded-For: <script>", "X-Forwarded-For:",
    ])
    func `a trusted proxy that names nobody is the client itself`(field: String) throws {
        let line = try line(field, "trusted_proxies: [loopback, 10.0.0.0/8]")
        #expect(line.contains(#""client":"127.0.0.1","method""#), "\(line)")
    }

    @Test func `what anybody else says of itself is not believed`() throws {
        let line = try line("X-Forwarded-For: 192.0.2.1", "trusted_proxies: [10.0.0.0/8]")
        #expect(line.contains(#""client":"127.0.0.1","method""#), "\(line)")
    }

    private static let browser = ["User-Agent: A \"browser\"", "Referer: https://api.test/page?secret=1"]
    private static let fields = #""user_agent":"A \u0022browser\u0022","referer":"https://api.test/page?-","#

    @Test(arguments: [
        ("", true, true), ("log: {access: {client_fields: all}}", true, true),
        ("log: {access: {client_fields: none}}", false, false),
    ])
    func `host, user agent and referer are logged, and on private routes not the last two`(
        settings: String, onPublic: Bool, onPrivate: Bool
    ) throws {
        let routes =
            #"routes: [{match: /own, dictionary: {scope: private, identity: authorization}}, {match: "/*"}]"#
        let proxy = try TestProxy(
            try Origin(json(Array("{}".utf8))), "\(routes)\n\(settings)", isLogged: true)
        for (path, isShown) in [("/a", onPublic), ("/own", onPrivate && !settings.isEmpty)] {
            #expect(try proxy.fetch(path, Self.browser[0], Self.browser[1]).status == 200)
            let line = try #require(proxy.log?.next())
            #expect(line.contains(#""target":"\#(path)","host":"api.test","#), "\(line)")
            #expect(line.contains(Self.fields) == isShown, "\(line)")
            #expect(!line.contains("secret"))
            #expect(isShown || !line.contains("user_agent") && !line.contains("referer"), "\(line)")
        }
    }
}
