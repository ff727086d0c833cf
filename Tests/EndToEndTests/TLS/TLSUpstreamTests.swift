internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// An upstream whose URL says https.
@Suite(.timeLimit(.minutes(40))) struct TLSUpstreamTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
    }

    /// A proxy before an upstream at this URL.
    private func proxy(
        _ url: String, _ tls: String? = nil, _ settings: String = "", connectTimeout: String = "1m"
    ) throws -> ServedProxy {
        let tls = tls ?? "ca: \"\(certificates.file("ca.pem"))\""
        return try ServedProxy(
            Origin([UInt8]()), in: TemporaryFolder(), settings,
            upstream: "{urls: [\"\(url)\"], connect_timeout: \(connectTimeout), tls: {\(tls)}}")
    }

    @Test func `the certificate is checked for its name, and a name is asked for`() throws {
        let origin = try SecureOrigin(certificates)
        let named = try proxy("https://localhost:\(origin.port)").curl("/info")
        #expect(String(decoding: named.body, as: UTF8.self).contains("TLSv1.3 sni=localhost"))
        #expect(String(decoding: named.body, as: UTF8.self).contains("alpn=http/1.1"))
        // RFC 6066 section 3: an IP address is not sent as a server name, but the certificate must be for it.
        let addressed = try proxy("https://127.0.0.1:\(origin.port)").curl("/info")
        #expect(String(decoding: addressed.body, as: UTF8.self).contains("sni=None"))
    }

    @Test(arguments: [
        ("other", "DNS:other.test", 30, "hostname mismatch"), ("other", "DNS:*", 30, "hostname mismatch"),
        ("expired", "DNS:localhost", -1, "certificate has expired"),
    ])
    func `a certificate that is not the upstream's is refused, and the log says why`(
        name: String, names: String, days: Int, expected: String
    ) throws {
        try certificates.issue(name, names: names, days: days)
        let origin = try SecureOrigin(certificates, name)
        let proxy = try proxy("https://localhost:\(origin.port)")
        #expect(try proxy.curl("/info").head.status == 502)
        #expect(try proxy.process.waitFor("no TLS with the upstream").contains(expected))
        #expect(try proxy.metric("dictum_upstream_errors_total", where: "\"tls\"") == 1)
    }

    @Test func `an authority that is not among those named, or the system's, is refused`() throws {
        let origin = try SecureOrigin(certificates)
        let others = try TestCertificates()
        for tls in ["ca: \"\(others.file("ca.pem"))\"", "verify: on"] {
            let proxy = try proxy("https://localhost:\(origin.port)", tls)
            #expect(try proxy.curl("/info").head.status == 502)
            let said = try proxy.process.waitFor("no TLS with the upstream")
            #expect(said.contains("the certificate cannot be trusted"))
        }
    }

    @Test func `verify off takes anybody, and the log warns of it`() throws {
        let origin = try SecureOrigin(certificates)
        let proxy = try proxy("https://localhost:\(origin.port)", "verify: off")
        #expect(try proxy.curl("/info").code == 0)
        #expect(try proxy.process.waitFor("verify is off").contains("anybody on the way"))
    }

    @Test(arguments: [SecureOrigin.Asks.atOnce, .later])
    func `an upstream that asks for a certificate gets the one configured`(asks: SecureOrigin.Asks) throws {
        try certificates.issue("client", names: "DNS:client.test")
        let origin = try SecureOrigin(certificates, asks: asks)
        let ca = "ca: \"\(certificates.file("ca.pem"))\""
        let own =
            ", certificate: \"\(certificates.file("client.pem"))\", private_key: \"\(certificates.file("client.key"))\""
        let answer = try proxy("https://localhost:\(origin.port)", ca + own).curl("/info")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("('commonName', 'client')"))
        #expect(try proxy("https://localhost:\(origin.port)", ca).curl("/info").head.status == 502)
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func `sessions are resumed`(version: String) throws {
        let origin = try SecureOrigin(certificates, version: version)
        let proxy = try proxy("https://localhost:\(origin.port)")
        // Each loop has its own sessions, so at most one connection per loop is a first one.
        let loops = ProcessInfo.processInfo.activeProcessorCount
        var reused = 0
        for _ in 0..<loops + 3 {
            let text = String(decoding: try proxy.curl("/info").body, as: UTF8.self)
            if text.contains("reused=True") { reused += 1 }
        }
        #expect(reused >= 3)
    }

    @Test func `after a reload nothing is trusted that only the former authorities vouched for`() throws {
        let origin = try SecureOrigin(certificates)
        let proxy = try proxy("https://localhost:\(origin.port)")
        let first = String(decoding: try #require(proxy.folder.read("dictum.yaml")), as: UTF8.self)
        let others = try TestCertificates()
        let (own, other) = (certificates.file("ca.pem"), others.file("ca.pem"))
        let loops = ProcessInfo.processInfo.activeProcessorCount
        // Each loop has a session by now, which would spare it to look at the certificate.
        for _ in 0..<loops + 3 { #expect(try proxy.curl("/info").head.status == 200) }
        for (turn, authority) in [(1, other), (2, own)] {
            try proxy.folder.write(Array(first.replacing(own, with: authority).utf8), to: "dictum.yaml")
            proxy.process.signal(SIGHUP)
            try waitUntil("it is in effect") {
                try proxy.metric("dictum_reloads_total", where: "done") == Double(turn)
            }
            let status = authority == own ? 200 : 502
            for _ in 0..<loops + 3 { #expect(try proxy.curl("/info").head.status == status) }
        }
    }

    @Test func `a body without length is whole with close_notify only, which ends its connection`() throws {
        // RFC 9112 section 9.8.
        let origin = try SecureOrigin(certificates)
        let proxy = try proxy("https://localhost:\(origin.port)", nil, "compression: {types: []}")
        #expect(try proxy.curl("/open").carries(Array(String(repeating: "hello ", count: 5000).utf8)))
        #expect(try proxy.metric("dictum_connections", where: "upstream") == 0)
        #expect(try proxy.curl("/cut").code != 0)
    }

    @Test func `who speaks no TLS at an https URL is a bad gateway, who says nothing a slow one`() throws {
        let plain = try Origin(wire("HTTP/1.1 200 OK", body: []))
        let talking = try proxy("https://localhost:\(plain.port)", connectTimeout: "1s")
        let silent = try Origin { _, _ in }
        let waiting = try proxy("https://127.0.0.1:\(silent.port)", connectTimeout: "1s")
        #expect(try waiting.curl("/").head.status == 504)
        #expect([502, 504].contains(try talking.curl("/").head.status))
        #expect(plain.requests.isEmpty)
    }

    @Test func `dictum fetch speaks https, and trusts the system's authorities or those of SSL_CERT_FILE`()
        throws
    {
        let origin = try SecureOrigin(certificates)
        let folder = try TemporaryFolder()
        let arguments = ["fetch", "--cache", folder.path, "https://localhost:\(origin.port)/info"]
        let refused = try RunningProcess.run(arguments)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("the TLS handshake failed: the certificate cannot be trusted"))
        let trusted = try RunningProcess.run(
            arguments, environment: ["SSL_CERT_FILE": certificates.file("ca.pem")])
        #expect(trusted.status == 0)
        #expect(trusted.text.contains("sni=localhost"))
    }

    @Test(arguments: [
        ("ca: /none", "upstream.tls: /none: cannot be read"),
        ("certificate: /none", "expected both or neither"),
        ("certificate: /none, private_key: /none", "upstream.tls: /none: cannot be read"),
        ("verify: perhaps", "expected on or off"),
    ])
    func `useless settings are mistakes with their reason`(tls: String, expected: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array("upstream: {urls: [\"https://localhost:1\"], tls: {\(tls)}}".utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
        #expect(result.status == 78)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }
}
