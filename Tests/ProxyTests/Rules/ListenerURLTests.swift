internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

/// The URLs that the log tells an operator at the start and after a reload.
@Suite(.timeLimit(.minutes(40))) struct ListenerURLTests {
    @Test func `each listener has its URL: with TLS one of https, unless it is a path`() throws {
        let (folder, certificates) = (try TemporaryFolder(), try TestCertificates())
        let tls = certificates.settings("server")
        let path = "unix:\(folder.file("a"))"
        let proxy = try TestProxy(
            Origin(json([0x7b, 0x7d])),
            """
            listeners:
            - {address: "127.0.0.1:0", \(tls)}
            - {address: "127.0.0.2:0"}
            - {address: "\(path)", \(tls)}
            """)
        let endpoints = proxy.server.endpoints
        let ports = try endpoints.prefix(2).map { try TestProxy.port($0) }
        let expected = ["https://127.0.0.1:\(ports[0])", "http://127.0.0.2:\(ports[1])", endpoints[2].text]
        #expect(proxy.server.urls == expected)
        // The order of a reload is the order of its URLs.
        try proxy.reload(
            """
            listeners:
            - {address: "127.0.0.2:0"}
            - {address: "127.0.0.1:0", \(tls)}
            """)
        #expect(proxy.server.urls == [expected[1], expected[0]])
        withExtendedLifetime((folder, certificates)) {}
    }
}
