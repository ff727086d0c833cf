internal import Foundation
internal import TestSupport
internal import Testing

/// Checks the default TLS settings of a listener with an independent scanner.
@Suite(.timeLimit(.minutes(40))) struct TLSScanTests {
    private static let suites = [
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    ]

    @Test(arguments: ["ECDSA", "RSA"])
    func `sslscan finds nothing to complain about`(kind: String) throws {
        let certificates = try TestCertificates()
        if kind == "RSA" { try certificates.issue("server", names: "DNS:localhost", key: "rsa:2048") }
        let proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 200 OK", body: [])), in: TemporaryFolder(),
            listener: certificates.settings())
        let scan = try TLSScan(port: proxy.port, in: certificates)
        #expect(scan.complaints.isEmpty)
        #expect(scan.versions == ["tls1.2", "tls1.3"])
        #expect(scan.ciphers("TLSv1.3") == Self.suites)
        let form = "ECDHE-\(kind)-"
        #expect(
            scan.ciphers("TLSv1.2") == [
                "\(form)AES128-GCM-SHA256", "\(form)AES256-GCM-SHA384", "\(form)CHACHA20-POLY1305",
            ])
        #expect(scan.keyCount >= 4)
    }

    @Test func `sslscan complains of a server that deserves it`() throws {
        let certificates = try TestCertificates()
        try certificates.issue("server", names: "DNS:localhost", key: "rsa:2048")
        let server = try RunningProcess(
            [
                "s_server", "-accept", "0", "-cert", "server.pem", "-key", "server.key", "-www", "-cipher",
                "ALL:@SECLEVEL=0",
            ], of: "/usr/bin/openssl", in: certificates.path)
        defer { server.stop() }
        let said = try server.waitFor("ACCEPT")
        let match = try #require(said.firstMatch(of: /ACCEPT [^ ]*:([0-9]+)/), "\(said)")
        let scan = try TLSScan(port: #require(UInt16(match.output.1)), in: certificates)
        for expected in ["version=1.0", "cipher=AES128-SHA,", "strength=anonymous"] {
            #expect(
                scan.complaints.contains { $0.replacing("\"", with: "").contains(expected) }, "\(expected)")
        }
    }

    @Test(arguments: [("AES", "AES_128_GCM"), ("CHACHA20", "CHACHA20_POLY1305")])
    func `who names ChaCha20 first gets it, all others the cheapest`(first: String, expected: String) throws {
        let certificates = try TestCertificates()
        let proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 200 OK", body: [])), in: TemporaryFolder(),
            listener: certificates.settings())
        let client = SecureClient(proxy: proxy, certificates: certificates)
        let others = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"
        let chacha = "TLS_CHACHA20_POLY1305_SHA256"
        let order = first == "AES" ? "\(others):\(chacha)" : "\(chacha):\(others)"
        #expect(try client.sClient("-tls1_3", "-ciphersuites", order).contains("Cipher is TLS_\(expected)"))
    }

    @Test(arguments: ["RSA+SHA1", "RSA+SHA224"])
    func `nothing is signed over a weak digest`(signature: String) throws {
        let certificates = try TestCertificates()
        try certificates.issue("server", names: "DNS:localhost", key: "rsa:2048")
        let proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 200 OK", body: [])), in: TemporaryFolder(),
            listener: certificates.settings())
        let client = SecureClient(proxy: proxy, certificates: certificates)
        let options = ["-tls1_2", "-cipher DEFAULT:@SECLEVEL=0", "-sigalgs"].joined(separator: " ")
        #expect(try client.sClient(options, signature).contains("handshake failure"))
        #expect(try client.sClient(options, "RSA+SHA256").contains("Peer signing digest: SHA256"))
    }
}
