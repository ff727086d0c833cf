internal import Foundation
internal import TestSupport
internal import Testing

/// Tests the choice of certificates, and the reloading of their files.
@Suite(.timeLimit(.minutes(40))) struct TLSCertificateTests {
    private static func origin() throws -> Origin {
        try Origin(wire("HTTP/1.1 200 OK", "Content-Type: text/plain", body: Array("hello\n".utf8)))
    }

    private func served(_ certificates: TestCertificates, _ tls: String = "") throws -> SecureClient {
        let proxy = try ServedProxy(
            Self.origin(), in: TemporaryFolder(), listener: certificates.settings("server", tls))
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    private func pair(_ name: String, of certificates: TestCertificates) -> String {
        let file = certificates.file(name)
        return "{certificate: \"\(file).pem\", private_key: \"\(file).key\"}"
    }

    @Test func `the certificate is chosen by the name that the client asks for`() throws {
        let certificates = try TestCertificates()
        try certificates.issue("wild", names: "DNS:*.wild.test")
        try certificates.issue("exact", names: "DNS:one.wild.test")
        let list = "certificates: [\(pair("wild", of: certificates)), \(pair("exact", of: certificates))]"
        let client = try served(certificates, ", \(list)")
        let expected = [
            "two.wild.test": "wild", "one.wild.test": "exact", "ONE.wild.TEST": "exact",
            "localhost": "server",
            // A wildcard stands for exactly one label, so it does not match the parent (RFC 6125 section 6.4.3).
            "a.two.wild.test": "server", "wild.test": "server", "unknown.test": "server",
        ]
        for (host, name) in expected {
            let said = try client.sClient("-servername", host)
            #expect(said.contains("subject=CN = \(name)"), "\(host)")
        }
        #expect(try client.sClient("-noservername").contains("subject=CN = server"))
        for version in ["1.2", "1.3"] {
            let answer = try client.proxy.curl(
                "/", "--cacert", certificates.file("ca.pem"), "--tls-max", version, "--connect-to",
                "two.wild.test:443:127.0.0.1:\(client.proxy.port)", "https://two.wild.test/")
            #expect(answer.code == 0)
        }
    }

    @Test(arguments: [1, 2])
    func `the whole chain of the file is sent, so that a client that knows the root alone trusts it`(
        between count: Int
    ) throws {
        let certificates = try TestCertificates()
        try certificates.write("basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n", to: "ca.ext")
        try certificates.write("subjectAltName=IP:127.0.0.1\n", to: "leaf.ext")
        var names = ["ca"]
        for name in (1...count).map({ "between\($0)" }) + ["leaf"] {
            try certificates.openssl(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) "
                    + "-keyout \(name).key -out \(name).csr"
            )
            try certificates.openssl(
                "x509 -req -in \(name).csr -CA \(names[0]).pem -CAkey \(names[0]).key -CAcreateserial -days 30 "
                    + "-extfile \(name == "leaf" ? "leaf" : "ca").ext -out \(name).pem")
            names.insert(name, at: 0)
        }
        let chain = try names.dropLast().map { name in
            try String(contentsOf: URL(filePath: certificates.file("\(name).pem")), encoding: .utf8)
        }
        try certificates.write(chain.joined(), to: "leaf.pem")
        let proxy = try ServedProxy(
            Self.origin(), in: TemporaryFolder(), listener: certificates.settings("leaf"))
        let client = SecureClient(proxy: proxy, certificates: certificates)
        #expect(try client.curl("/").carries(Array("hello\n".utf8)))
    }

    @Test func `a scrape tells when the first certificate of a listener ends, also after a renewal`() throws {
        let certificates = try TestCertificates()
        try certificates.issue("short", names: "DNS:short.test", days: 3)
        let client = try served(certificates, ", certificates: [\(pair("short", of: certificates))]")
        func days() throws -> Double {
            let end = try client.proxy.metric("dictum_certificate_end_time_seconds")
            return (end - Date.now.timeIntervalSince1970) / 86_400
        }
        #expect(try 2.5...3 ~= days())
        try certificates.issue("short", names: "DNS:short.test", days: 20)
        _ = try client.proxy.process.waitFor("the certificates have changed")
        #expect(try 19.5...20 ~= days())
    }

    @Test func `a certificate that changes on disk is read, and no connection is dropped`() throws {
        let certificates = try TestCertificates()
        let client = try served(certificates)
        let script = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile="ca.pem")
            with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=300) as peer:
                with context.wrap_socket(peer, server_hostname="localhost") as tls:
                    for turn in range(2):
                        tls.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
                        data = b""
                        while not data.endswith(b"hello\\n"):
                            piece = tls.recv(4096)
                            assert piece
                            data += piece
                        print("answer", turn, flush=True)
                        if turn == 0:
                            input()
            """
        try certificates.write(script, to: "kept.py")
        // The old connection asks again once the new certificate is there.
        let kept = try RunningProcess(
            ["-c", "(until [ -e go ]; do sleep 0.05; done; echo) | python3 kept.py \(client.proxy.port)"],
            of: "/bin/bash", in: certificates.path)
        _ = try kept.waitFor("answer 0")
        try certificates.issue("server", names: "DNS:localhost,IP:127.0.0.1", subject: "/CN=renewed")
        _ = try client.proxy.process.waitFor("the certificates have changed")
        #expect(try client.sClient().contains("subject=CN = renewed"))
        try certificates.write("", to: "go")
        #expect(try kept.result().text.contains("answer 1"))
    }

    @Test func `a file that becomes useless leaves the former certificate, and is told of`() throws {
        let certificates = try TestCertificates()
        let client = try served(certificates)
        try certificates.issue("other", names: "DNS:localhost")
        try certificates.copy("other.key", to: "server.key")
        let said = try client.proxy.process.waitFor("keeping the current certificate")
        #expect(said.contains("is not the key of the certificate"))
        #expect(try client.curl("/").code == 0)
        // The certificate of that key makes it whole again.
        try certificates.copy("other.pem", to: "server.pem")
        _ = try client.proxy.process.waitFor("the certificates have changed")
        #expect(try client.sClient("-servername", "localhost").contains("subject=CN = other"))
    }

    @Test func `SIGHUP reads the files again, and refuses useless ones with file and reason`() throws {
        let certificates = try TestCertificates()
        let client = try served(certificates)
        try certificates.write("none", to: "server.pem")
        client.proxy.process.signal(SIGHUP)
        let said = try client.proxy.process.waitFor("keeping the current one")
        #expect(said.contains("server.pem: has no certificate in PEM"))
        #expect(try client.curl("/").code == 0)
        try certificates.issue("server", names: "IP:127.0.0.1", subject: "/CN=renewed")
        client.proxy.process.signal(SIGHUP)
        _ = try client.proxy.process.waitFor("is in effect")
        #expect(try client.sClient().contains("subject=CN = renewed"))
    }

    @Test func `an expired certificate is warned of, and keeps no other one down`() throws {
        let certificates = try TestCertificates()
        try certificates.issue("expired", names: "DNS:expired.test", days: -1)
        let client = try served(certificates, ", certificates: [\(pair("expired", of: certificates))]")
        _ = try client.proxy.process.waitFor("expired.pem: expired on ")
        #expect(try client.curl("/").code == 0)
    }

    @Test(arguments: [
        (
            "missing.pem", "server.key", "missing.pem: cannot be read (No such file or directory)",
            "certificate"
        ),
        (
            "server.pem", "missing.key", "missing.key: cannot be read (No such file or directory)",
            "private_key"
        ),
        ("server.key", "server.key", "server.key: has no certificate in PEM", "certificate"),
        ("server.pem", "copy.pem", "copy.pem: has no private key in PEM", "private_key"),
        ("server.pem", "other.key", "is not the key of the certificate in", "private_key"),
        (
            "server.pem", "locked.key", "locked.key: is encrypted; a key without a passphrase is needed",
            "private_key"
        ),
        ("damaged.pem", "server.key", "damaged.pem: has a damaged certificate", "certificate"),
    ])
    func `useless files are mistakes with place, file and reason, in check and at the start`(
        certificate: String, key: String, expected: String, at setting: String
    ) throws {
        let certificates = try TestCertificates()
        try certificates.copy("server.pem", to: "copy.pem")
        try certificates.issue("other", names: "DNS:localhost")
        try certificates.openssl("ec -in server.key -aes128 -passout pass:secret -out locked.key")
        let whole = try #require(
            FileManager.default.contents(atPath: certificates.file("server.pem")).map {
                String(decoding: $0, as: UTF8.self)
            })
        try certificates.write(whole.replacing("MII", with: "MIJ"), to: "damaged.pem")
        try certificates.write(
            """
            listeners:
              - address: 127.0.0.1:0
                tls:
                  certificate: \(certificates.file(certificate))
                  private_key: \(certificates.file(key))
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: ":memory:"}
            """, to: "dictum.yaml")
        let place = "dictum.yaml:\(setting == "certificate" ? 4 : 5):20: listeners[0].tls.\(setting): "
        for command in ["check", "serve"] {
            let result = try RunningProcess.run([command, "--config", "dictum.yaml"], in: certificates.path)
            #expect(result.status == 78)
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(result.errors.contains(expected), "\(result.errors)")
            #expect(result.errors.hasPrefix(place), "\(result.errors)")
        }
    }

    @Test func `a useless authority for clients is a mistake at its own setting`() throws {
        let certificates = try TestCertificates()
        try certificates.write(
            """
            listeners:
              - address: 127.0.0.1:0
                tls:
                  certificate: \(certificates.file("server.pem"))
                  private_key: \(certificates.file("server.key"))
                  client_ca: \(certificates.file("missing.pem"))
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: ":memory:"}
            """, to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: certificates.path)
        #expect(result.status == 78)
        #expect(result.errors.hasPrefix("dictum.yaml:6:18: listeners[0].tls.client_ca: "), "\(result.errors)")
        #expect(result.errors.contains("missing.pem: cannot be read"), "\(result.errors)")
    }

    @Test(arguments: [
        (
            "{}",
            "tls is an empty mapping (a certificate or a key is missing): expected both certificate and private_key, or certificates"
        ),
        ("{certificate: a}", "a certificate or a key is missing"),
        ("{private_key: a}", "a certificate or a key is missing"),
        ("on", "a certificate or a key is missing"),
        ("{min_version: 1.1}", "expected 1.2 or 1.3"), ("{certificates: []}", "expected a list of 1 to 64"),
        ("{certificates: [{certificate: a}]}", "private_key is missing"),
        (
            "{certificates: [{certificate: /none, private_key: /none}], ocsp: /none}",
            "a certificate or a key is missing"
        ),
    ])
    func `a section without what it needs is a mistake`(section: String, expected: String) throws {
        let folder = try TemporaryFolder()
        let text = """
            listeners: [{address: "127.0.0.1:0", tls: \(section)}]
            upstream: {urls: ["http://127.0.0.1:9"]}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
        #expect(result.status == 78)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }
}
