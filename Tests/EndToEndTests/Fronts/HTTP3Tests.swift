internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// Caddy speaks HTTP/3 before Dictum, as `deploy/FRONTS.md` says, to a client that is not ours.
@Suite(.serialized, .timeLimit(.minutes(40))) struct HTTP3Tests {
    /// An API that has a new version for every request.
    private static func feed() throws -> Origin {
        let version = Guarded(0)
        return try Origin { _, connection in
            let number = version.withLock { number in
                number += 1
                return number
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600",
                    body: body(number)))
        }
    }

    private static func body(_ version: Int) -> [UInt8] { Feed.bytes(version: version, items: 100) }

    /// Returns a client for these certificates; nil, with a word about it, if this machine has no aioquic.
    private static func client(trusting certificates: TestCertificates) throws -> HTTP3Client? {
        _ = try Front.caddy.program()
        let client = try HTTP3Client(trusting: certificates)
        if client == nil { print("skipped: PyPI is out of reach, so there is no client of HTTP/3") }
        return client
    }

    /// The request fields of a client that holds a body, and was offered it with this Use-As-Dictionary.
    private static func holding(_ body: [UInt8], offered: String?) throws -> (available: String, id: String) {
        let folder = try TemporaryFolder()
        try folder.write(body, to: "held")
        let digest = try RunningProcess.run(
            ["-c", "openssl dgst -sha256 -binary held | base64 -w0"], of: "/bin/bash", in: folder.path)
        let id = try #require(offered?.firstMatch(of: /id=("[^"]*")/)?.output.1, "\(offered ?? "no offer")")
        return ("Available-Dictionary: :\(digest.text):", "Dictionary-ID: \(id)")
    }

    private static func expectDelta(
        _ coding: String, _ response: HTTP3Client.Response, over held: [UInt8], of body: [UInt8]
    ) throws {
        #expect(response.status == 200)
        #expect(response["content-encoding"] == coding)
        #expect(response.body.count < body.count / 4, "\(response.body.count) of \(body.count) bytes")
        let faults = try ForeignJudge().faults(of: [
            .init(name: "HTTP/3", coding: coding, dictionary: held, wire: response.body, body: body)
        ])
        #expect(faults.isEmpty, "\(faults)")
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/2"])
    func `deltas reach a client of HTTP/3 through Caddy, and it can claim no address`(inside: String) throws {
        let certificates = try TestCertificates()
        guard let client = try Self.client(trusting: certificates) else { return }
        let (origin, folder, port) = (try Self.feed(), try TemporaryFolder(), try freePort())
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let caddy = try Front.caddy.start(
            port: port, before: proxy.port, by: inside == "HTTP/2" ? "h2c://" : "", certificates, in: folder)
        defer { _ = try? caddy.terminate() }
        try waitUntil("Caddy accepts") { (try? WireSocket(port: port)) != nil }
        let authority = "localhost:\(port)"
        let first = try client.get(
            "/feed", at: port, authority: authority, "X-Forwarded-For: 198.51.100.7",
            "X-Forwarded-Host: evil.test", "Forwarded: for=198.51.100.7")
        #expect(first.status == 200)
        #expect(first["content-encoding"] == nil)
        #expect(first.body == Self.body(1))
        let received = try #require(origin.requests.first)
        #expect(received["X-Forwarded-For"] == "127.0.0.1, 127.0.0.1", "Caddy's client, and Caddy")
        #expect(received["X-Forwarded-Proto"] == "https")
        #expect(received["X-Forwarded-Host"] == authority)
        #expect(received["Forwarded"] == nil)
        let holding = try Self.holding(first.body, offered: first["use-as-dictionary"])
        for (number, coding) in [(2, "dcz"), (3, "dcb")] {
            let delta = try client.get(
                "/feed", at: port, authority: authority, "Accept-Encoding: \(coding)", holding.available,
                holding.id)
            try Self.expectDelta(coding, delta, over: first.body, of: Self.body(number))
        }
        #expect(try proxy.metric("dictum_requests_by_protocol_total", where: "\"\(inside)") == 3)
        let overTCP = try RunningProcess.run(
            [
                "curl", "-sS", "--max-time", "300", "--cacert", certificates.file("ca.pem"), "-o",
                "/dev/null",
                "-D", "-", "https://\(authority)/feed",
            ], of: "/usr/bin/env")
        #expect(overTCP.text.lowercased().contains("alt-svc: h3=\":\(port)\""), "\(overTCP.text)")
    }

    @Test func `a client follows Dictum's Alt-Svc to HTTP/3, and uses there what it got over TCP`() throws {
        let certificates = try TestCertificates()
        guard let client = try Self.client(trusting: certificates) else { return }
        let (origin, folder) = (try Self.feed(), try TemporaryFolder())
        let (secure, plain, quic) = (try freePort(), try freePort(), try freePort())
        let documented = try Documentation.blocks("yaml", of: "deploy/FRONTS.md", under: "## HTTP/3")[0]
        let settings = try Front.replaced(
            [
                ("0.0.0.0:443", "127.0.0.1:\(secure)"), ("127.0.0.1:8080", "127.0.0.1:\(plain)"),
                ("\":444\"", "\":\(quic)\""),
                ("/etc/dictum/tls/fullchain.pem", certificates.file("server.pem")),
                ("/etc/dictum/tls/privkey.pem", certificates.file("server.key")),
            ], in: documented)
        let others = """
            upstream: {urls: ["http://127.0.0.1:\(origin.port)"]}
            store: {path: "\(folder.path)/store.sqlite"}
            admin: {address: "unix:\(folder.path)/admin.sock"}
            """
        try folder.write(Array((settings + others).utf8), to: "dictum.yaml")
        let dictum = try RunningProcess(["serve", "--config", "\(folder.path)/dictum.yaml"])
        defer { dictum.stop() }
        _ = try dictum.waitFor("listening on http://127.0.0.1:\(plain)")
        let caddy = try Front.startForHTTP3(port: quic, before: plain, certificates, in: folder)
        defer { _ = try? caddy.terminate() }
        _ = try caddy.waitFor("serving initial configuration")
        let url = "https://localhost:\(secure)/feed"
        let first = try RunningProcess.run(
            [
                "curl", "-sS", "--max-time", "300", "--cacert", "\(certificates.file("ca.pem"))", "-D",
                "head",
                "-o", "held", url,
            ], of: "/usr/bin/env", in: folder.path)
        try #require(first.status == 0, "\(first.errors)")
        let head = WireMessage(head: String(decoding: folder.read("head") ?? [], as: UTF8.self))
        let held = try #require(folder.read("held"))
        #expect(held == Self.body(1))
        let service = try #require(head["Alt-Svc"]?.firstMatch(of: /^h3=":([0-9]+)"; ma=86400$/), "\(head)")
        let port = try #require(UInt16(service.output.1))
        #expect(port == quic)
        let holding = try Self.holding(held, offered: head["Use-As-Dictionary"])
        let delta = try client.get(
            "/feed", at: port, authority: "localhost:\(secure)", "Accept-Encoding: dcz", holding.available,
            holding.id)
        try Self.expectDelta("dcz", delta, over: held, of: Self.body(2))
        #expect(delta["alt-svc"] == nil, "only the listener for clients names Caddy")
    }
}
