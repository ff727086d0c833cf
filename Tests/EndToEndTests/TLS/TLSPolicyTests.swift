internal import Foundation
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 3, items: 200)

/// Tests for client certificates, OCSP and plain HTTP beside TLS.
@Suite(.timeLimit(.minutes(40))) struct TLSPolicyTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
    }

    private func served(_ listener: String, _ settings: String = "", fields: String...) throws -> SecureClient
    {
        let head = ["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields
        let origin = try Origin(wire(head.joined(separator: "\r\n"), body: body))
        let proxy = try ServedProxy(origin, in: TemporaryFolder(), settings, listener: listener)
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    /// Fetches `/feed` with the client certificate of that name.
    private func curl(_ client: SecureClient, as name: String, _ more: String...) throws -> CurlAnswer {
        try client.proxy.curl(
            "/feed",
            arguments: [
                "--cacert", certificates.file("ca.pem"), "--cert", certificates.file("\(name).pem"), "--key",
                certificates.file("\(name).key"),
            ] + more)
    }

    // MARK: Certificates of clients

    private func clientAuthority(_ more: String = "") -> String {
        certificates.settings("server", ", client_ca: \"\(certificates.file("ca.pem"))\"\(more)")
    }

    @Test func `a client without a certificate of the authority is not let in`() throws {
        let client = try served(clientAuthority())
        try certificates.issue("alice", names: "DNS:alice.test")
        #expect(try curl(client, as: "alice").carries(body))
        #expect(try client.curl("/feed").code != 0)
        #expect(try client.curl("/feed", "--tls-max", "1.2").code != 0)
        let others = try TestCertificates()
        let stranger = try client.curl(
            "/feed", "--cert", others.file("server.pem"), "--key", others.file("server.key"))
        #expect(stranger.code != 0)
        try certificates.issue("late", names: "DNS:late.test", days: -1)
        #expect(try curl(client, as: "late").code != 0)
        #expect(client.proxy.origin.requests.count == 1)
    }

    @Test(arguments: ["1.2", "1.3"])
    func `the subject goes to the upstream, and nobody sends it himself`(version: String) throws {
        let more = ", client_auth: optional, client_subject_field: X-Client-Subject"
        let client = try served(clientAuthority(more))
        try certificates.issue("alice", names: "DNS:alice.test", subject: "/O=Example/CN=alice")
        #expect(
            try curl(client, as: "alice", "-H", "X-Client-Subject: CN=root", "--tls-max", version).code == 0)
        #expect(
            try client.curl("/feed", "-H", "x-client-subject: CN=root", "--tls-max", version).carries(body))
        let asked = client.proxy.origin.requests
        #expect(asked.map { $0.values("X-Client-Subject") } == [["CN=alice,O=Example"], []])
    }

    @Test(arguments: ["X-Client-Subject", "x_client_subject", "X.Client.Subject"])
    func `nor does he send a field that the upstream may take for the subject's`(name: String) throws {
        let more = ", client_auth: optional, client_subject_field: \(name)"
        let client = try served(clientAuthority(more))
        try certificates.issue("alice", names: "DNS:alice.test")
        let forged = ["X-Client-Subject", "X_Client_Subject", "x.client_subject", "x-client.subject"]
        let fields = forged.flatMap { ["-H", "\($0): CN=root"] }
        for version in ["--http1.1", "--http2"] {
            let answer = try client.proxy.curl(
                "/feed", arguments: ["--cacert", certificates.file("ca.pem"), version] + fields)
            #expect(answer.carries(body))
        }
        #expect(try curl(client, as: "alice", "-H", "X_Client_Subject: CN=root").code == 0)
        let asked = client.proxy.origin.requests
        #expect(asked.map { $0.values(name) } == [[], [], ["CN=alice"]])
        #expect(!asked.contains { $0.fields.contains { $0.value == "CN=root" } })
    }

    @Test func `an answer to a client with a certificate is personal`() throws {
        let settings = "explain: on\npersonal: off\nroutes: [{match: \"/*\"}]"
        let client = try served(clientAuthority(", client_auth: optional"), settings)
        try certificates.issue("alice", names: "DNS:alice.test")
        #expect(try curl(client, as: "alice").head["Use-As-Dictionary"] == nil)
        #expect(try client.curl("/feed").head["Use-As-Dictionary"] != nil)
    }

    @Test func `a resumed session still has the client's certificate, and none let in anew without it`()
        throws
    {
        let client = try served(clientAuthority(", client_subject_field: X-Client-Subject"))
        try certificates.issue("alice", names: "DNS:alice.test")
        let own = ["-cert alice.pem -key alice.key", "-tls1_2"]
        #expect(try client.sClient(own[0], own[1], "-sess_out session").contains("New, TLS"))
        #expect(try client.sClient(own[1], "-sess_in session").contains("Reused, TLS"))
        #expect(client.proxy.origin.requests.map { $0["X-Client-Subject"] } == ["CN=alice", "CN=alice"])
    }

    // MARK: OCSP

    /// Makes the response of an OCSP server about a certificate, valid for so long; returns the path of its file.
    @discardableResult
    private func answer(about name: String, in file: String, _ life: String) throws -> String {
        try certificates.write("", to: "index.txt")
        try certificates.openssl("ocsp -issuer ca.pem -cert \(name).pem -reqout ask.der")
        try certificates.openssl(
            "ocsp -index index.txt -CA ca.pem -rsigner ca.pem -rkey ca.key -reqin ask.der -respout \(file) \(life)"
        )
        return certificates.file(file)
    }

    @Test func `an OCSP response is stapled for who asks, and for its certificate only`() throws {
        try certificates.issue("other", names: "DNS:other.test")
        try answer(about: "server", in: "ocsp.der", "-ndays 7")
        let other =
            "{certificate: \"\(certificates.file("other.pem"))\", private_key: \"\(certificates.file("other.key"))\"}"
        let more = ", ocsp: \"\(certificates.file("ocsp.der"))\", certificates: [\(other)]"
        let client = try served(certificates.settings("server", more))
        #expect(try client.sClient("-status").contains("OCSP Response Status: successful"))
        #expect(
            try client.sClient("-status", "-servername other.test").contains(
                "OCSP response: no response sent"))
        #expect(try !client.sClient().contains("OCSP Response Status"))
    }

    @Test func `an OCSP response is stapled until there must be a newer one, which is told of once`() throws {
        let client = try served(
            certificates.settings(
                "server", ", ocsp: \"\(try answer(about: "server", in: "ocsp.der", "-ndays 7"))\""))
        #expect(try client.sClient("-status").contains("OCSP Response Status: successful"))
        // nextUpdate is the only time under a tag of its own ([0] EXPLICIT GeneralizedTime).
        let url = URL(filePath: certificates.file("ocsp.der"))
        var bytes = try Data(contentsOf: url)
        let place = try #require(bytes.range(of: Data([0xA0, 0x11, 0x18, 0x0F])))
        bytes.replaceSubrange(place.upperBound..<place.upperBound + 15, with: Data("20200101000000Z".utf8))
        try bytes.write(to: url)
        let said = try client.proxy.process.waitFor(
            "the OCSP response is overdue or about another certificate")
        #expect(said.contains("\(url.path()): "))
        #expect(try client.sClient("-status").contains("OCSP response: no response sent"))
        try answer(about: "server", in: "ocsp.der", "-ndays 7")
        try waitUntil("the new response is sent") {
            try client.sClient("-status").contains("OCSP Response Status: successful")
        }
    }

    @Test(arguments: [
        ("empty.der", "is no OCSP response in DER"), ("server.pem", "is no OCSP response in DER"),
        ("later.der", "has no answer of the OCSP server (trylater)"),
    ])
    func `a file without an OCSP response is a mistake`(file: String, expected: String)
        throws
    {
        try certificates.write("", to: "empty.der")
        // An OCSPResponse with the status tryLater (RFC 6960 section 4.2.1).
        try Data([0x30, 3, 0x0A, 1, 3]).write(to: URL(filePath: certificates.file("later.der")))
        let path = certificates.file(file)
        let errors = try mistakes(ofListener: certificates.settings("server", ", ocsp: \"\(path)\""))
        #expect(errors.contains("\(path): \(expected)"), "\(errors)")
    }

    @Test func `an OCSP response must be about the certificate's issuer, if the chain has it`() throws {
        try answer(about: "server", in: "ocsp.der", "-ndays 7")
        let chain = try ["server.pem", "ca.pem"].map {
            try String(contentsOfFile: certificates.file($0), encoding: .utf8)
        }
        try certificates.write(chain.joined(), to: "chain.pem")
        try certificates.copy("server.key", to: "chain.key")
        let more = ", ocsp: \"\(certificates.file("ocsp.der"))\""
        let client = try served(certificates.settings("chain", more))
        #expect(try client.sClient("-status").contains("OCSP Response Status: successful"))
        // The same serial number from an authority of another name.
        let others = try TestCertificates()
        try certificates.write(
            chain[0] + String(contentsOfFile: others.file("server.pem"), encoding: .utf8), to: "chain.pem")
        _ = try client.proxy.process.waitFor("about another certificate, and not sent")
        #expect(try client.sClient("-status").contains("OCSP response: no response sent"))
    }

    // MARK: Plain HTTP beside it

    @Test(arguments: [
        ("https", "GET /a/b?c=d HTTP/1.1\r\nHost: api.test", 301, "https://api.test/a/b?c=d"),
        ("https", "GET / HTTP/1.1\r\nHost: api.test:8080", 301, "https://api.test/"),
        ("https", "GET / HTTP/1.1\r\nHost: api.test.:8080", 301, "https://api.test/"),
        ("https:8443", "GET / HTTP/1.1\r\nHost: api.test:8080", 301, "https://api.test:8443/"),
        ("https:8443", "GET /a HTTP/1.1\r\nHost: [::1]:8080", 301, "https://[::1]:8443/a"),
        ("https", "POST /a HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0", 308, "https://api.test/a"),
        ("https", "GET http://other.test/a HTTP/1.1\r\nHost: api.test", 301, "https://other.test/a"),
        ("https", "GET /%0d%0aX:y HTTP/1.1\r\nHost: api.test", 301, "https://api.test/%0d%0aX:y"),
        ("https", "GET /a HTTP/1.0", 400, nil),
    ])
    func `a plain request is sent on to the same URL by https`(
        setting: String, head: String, status: Int, location: String?
    ) throws {
        let client = try served("redirect: \(setting)")
        let socket = try WireSocket(port: client.proxy.port)
        socket.send("\(head)\r\n\r\n")
        let answer = try socket.receive()
        #expect(answer.status == status)
        #expect(answer["Location"] == location)
        #expect(client.proxy.origin.requests.isEmpty)
    }

    @Test func `what a trusted peer says came by https is not sent on`() throws {
        let client = try served("redirect: https")
        #expect(try client.proxy.curl("/feed", "-H", "X-Forwarded-Proto: https").carries(body))
        #expect(try client.proxy.curl("/feed", "-H", "X-Forwarded-Proto: http").head.status == 301)
        let wary = try served("redirect: https", "trusted_proxies: []")
        #expect(try wary.proxy.curl("/feed", "-H", "X-Forwarded-Proto: https").head.status == 301)
    }

    @Test func `Strict-Transport-Security is on every answer by TLS, once, and the upstream's counts`() throws
    {
        let hsts = certificates.settings() + ", hsts: \"max-age=300; includeSubDomains\""
        let client = try served(hsts)
        #expect(
            try client.curl("/feed").head.values("Strict-Transport-Security") == [
                "max-age=300; includeSubDomains"
            ])
        #expect(try client.curl("/.dictum/none").head["Strict-Transport-Security"] != nil)
        let own = try served(hsts, fields: "Strict-Transport-Security: max-age=0")
        #expect(try own.curl("/feed").head.values("Strict-Transport-Security") == ["max-age=0"])
        #expect(try served(certificates.settings()).curl("/feed").head["Strict-Transport-Security"] == nil)
    }

    @Test(arguments: [
        ("hsts: max-age=300", ": listeners[0].hsts: no effect without tls"),
        ("redirect: http", "expected off, https or https:PORT"),
        ("redirect: https:0", "expected off, https or https:PORT"),
        ("redirect: https:65536", "expected off, https"),
        ("hsts: 300", "expected a value of Strict-Transport-Security"),
        ("hsts: \"max-age=1; max-age=2\"", "expected a value of Strict-Transport-Security"),
        ("hsts: \"max-age=1\\r\\nx: y\"", "expected a value of Strict-Transport-Security"),
        (
            "tls: {certificate: /none, private_key: /none, client_subject_field: x}",
            ": listeners[0].tls.client_subject_field: no effect without client_ca"
        ),
        (
            "tls: {certificate: /none, private_key: /none, client_subject_field: \"a b\"}",
            "expected the name of a field"
        ),
        (
            "tls: {certificate: /none, private_key: /none, client_auth: perhaps}",
            "expected required or optional"
        ),
        (
            "redirect: https, tls: {certificate: /none, private_key: /none}",
            ": listeners[0].redirect: no effect on a listener with tls"
        ),
    ])
    func `settings that make no sense are mistakes`(listener: String, expected: String) throws {
        let errors = try mistakes(ofListener: listener)
        #expect(errors.contains(expected), "\(errors)")
    }
}
