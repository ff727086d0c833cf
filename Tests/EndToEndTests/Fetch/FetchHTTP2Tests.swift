internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// The version of HTTP that `dictum fetch` and `dictum doctor` speak, and deltas over HTTP/2.
@Suite(.timeLimit(.minutes(40))) struct FetchHTTP2Tests {
    /// Returns an upstream whose body has another version each time.
    private func changing() throws -> Origin {
        let version = Guarded(0)
        return try Origin { _, connection in
            let number = version.withLock { number in
                number += 1
                return number
            }
            connection.send(storable(feed(number)))
        }
    }

    private func served(_ certificates: TestCertificates?, protocols: String = "[h2, http/1.1]") throws
        -> ServedProxy
    {
        let tls = certificates.map { $0.settings() + ", " } ?? ""
        return try ServedProxy(
            changing(), in: TemporaryFolder(), "explain: true", listener: tls + "protocols: \(protocols)")
    }

    // MARK: Versions

    @Test(arguments: [
        ([], "HTTP/2"), (["--http2"], "HTTP/2"), (["--http2-prior-knowledge"], "HTTP/2"),
        (["--http1.1"], "HTTP/1.1"),
    ])
    func `over TLS the server chooses HTTP/2, and each version can be forced`(
        arguments: [String], version: String
    ) throws {
        let certificates = try TestCertificates()
        let proxy = try served(certificates)
        let trusted = ["--ca", certificates.file("ca.pem")] + arguments
        try fetchDeltas(from: proxy, trusted, version)
        let log = try proxy.process.terminate().text
        let logged = version == "HTTP/2" ? "HTTP/2.0" : "HTTP/1.1"
        #expect(log.components(separatedBy: "\"protocol\":\"\(logged)\"").count == 5, "\(log)")
    }

    @Test func `without TLS HTTP/2 takes prior knowledge`() throws {
        let proxy = try served(nil)
        try fetchDeltas(from: proxy, ["--http2-prior-knowledge"], "HTTP/2")
        try fetchDeltas(from: proxy, [], "HTTP/1.1", first: 5)
        for command in ["fetch", "doctor"] {
            let refused = try RunningProcess.run([command, proxy.url("/feed"), "--http2"])
            #expect(refused.status == 64 && refused.output.isEmpty)
            #expect(refused.errors.contains("give an https URL, or --http2-prior-knowledge"))
        }
    }

    /// Fetches four versions of a body, each from the second on as a delta over the one before.
    private func fetchDeltas(
        from proxy: ServedProxy, _ arguments: [String], _ version: String, first: Int = 1
    ) throws {
        for coding in ["dcz", "dcb"] {
            let fetching = try Fetching()
            for turn in 0..<2 {
                let number = first + turn + (coding == "dcb" ? 2 : 0)
                let fetched = try fetching.fetch(
                    proxy.url("/feed"), arguments: arguments + ["--accept", "\(coding),gzip"])
                #expect(fetched.body == feed(number))
                #expect(fetched.report.protocol == version)
                #expect(fetched.report.coding == (turn == 0 ? "gzip" : coding))
                if turn > 0 { #expect(fetched.report.wire_bytes * 20 < fetched.report.body_bytes) }
            }
        }
    }

    @Test func `a server without HTTP/2 serves HTTP/1.1, unless HTTP/2 is demanded`() throws {
        let certificates = try TestCertificates()
        let proxy = try served(certificates, protocols: "[http/1.1]")
        let fetching = try Fetching()
        let trusted = ["--ca", certificates.file("ca.pem")]
        let fetched = try fetching.fetch(proxy.url("/feed"), arguments: trusted)
        #expect(fetched.report.protocol == "HTTP/1.1" && fetched.body == feed(1))
        let demanded = try fetching.run(proxy.url("/feed"), "--http2", "--ca", certificates.file("ca.pem"))
        let message =
            "dictum: the server does not speak HTTP/2 here; use --http1.1, or add h2 to the server's protocols\n"
        #expect(demanded.status == 1 && demanded.output.isEmpty && demanded.errors == message)
        // Such a server responds in HTTP/1.1 to the preface.
        let old = try served(nil, protocols: "[http/1.1]")
        let plain = try fetching.run(old.url("/feed"), "--http2-prior-knowledge")
        #expect(plain.status == 1 && plain.output.isEmpty && plain.errors == message)
    }

    @Test func `a server that refuses HTTP/2 in the handshake is said not to speak it`() throws {
        let certificates = try TestCertificates()
        // It ends the handshake of a client that offers nothing but HTTP/2.
        let server = try RunningProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-alpn", "http/1.1", "-cert",
                certificates.file("server.pem"), "-key", certificates.file("server.key"),
            ], of: "/usr/bin/env")
        defer { server.stop() }
        let said = try server.waitFor("ACCEPT ").firstMatch(of: /ACCEPT 127.0.0.1:([0-9]+)/)
        let port = try #require(said).output.1
        let result = try Fetching().run("https://127.0.0.1:\(port)/", "--http2", "--insecure")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(
            result.errors.hasPrefix("dictum: the server does not speak HTTP/2 here; "), "\(result.errors)")
    }

    @Test func `verbose names the version, and shows interim responses and trailers`() throws {
        let origin = try Origin { _, connection in
            connection.send(
                Array(
                    ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                        + "Trailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n").utf8))
        }
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), #"routes: [{match: "/*", dictionary: off}]"#)
        let result = try Fetching().run(
            proxy.url("/feed"), "-v", "--http2-prior-knowledge", "--accept", "identity")
        #expect(result.status == 0 && result.text == "hello", "\(result.errors)")
        let lines = result.errorLines.map { $0.lowercased() }
        #expect(lines.first == "> get /feed http/2")
        for line in [
            "> host: 127.0.0.1:\(proxy.port)", "> ", "< http/2 103", "< link: </a>", "< http/2 200",
            "< x-sum: 1",
        ] {
            #expect(lines.contains(line), "no \(line) in \(result.errors)")
        }
        #expect(lines.last?.hasPrefix("dictum: 200 over http/2, identity: 5 bytes") == true)
    }

    @Test func `a body of many windows arrives whole, beside a head with every kind of field`() throws {
        let body = Noise.bytes(24_000_000, seed: 5)
        let origin = try Origin(wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: body))
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let fetching = try Fetching()
        let fetched = try fetching.fetch(
            proxy.url("/image?x=1"), "--http2-prior-knowledge", "-H", "Authorization: Bearer a", "-H",
            "x-two: b", "-H", "x-two: c", "--cookie", "sid=1; theme=dark")
        #expect(fetched.body == body && fetched.report.wire_bytes == body.count)
        let request = try #require(origin.requests.first)
        #expect(
            request.startLine == "GET /image?x=1 HTTP/1.1" && request["Host"] == "127.0.0.1:\(proxy.port)")
        #expect(request["Authorization"] == "Bearer a" && request["Cookie"] == "sid=1; theme=dark")
        #expect(request.values("x-two") == ["b", "c"] && request["User-Agent"] == "dictum-fetch")
    }

    // MARK: Connections

    @Test(arguments: [("/page", 1), ("/last-page", 2)])
    func `a connection is used again until the server says that it ends`(page: String, count: Int) throws {
        let server = try HTTP2Faults()
        let fetched = try Fetching().fetch(server.url(page), "--http2-prior-knowledge")
        #expect(fetched.report.stored, "the dictionary that the Link names was fetched and kept")
        #expect(try server.connections() == count)
    }

    // MARK: The doctor

    @Test func `the doctor examines by the version that the server chooses for browsers`() throws {
        let certificates = try TestCertificates()
        let origin = try Origin(storable(feed(1)))
        let examine = { (protocols: String, arguments: [String]) in
            let proxy = try ServedProxy(
                origin, in: TemporaryFolder(), listener: certificates.settings() + ", protocols: \(protocols)"
            )
            return try Consultation.of(
                proxy.url("/feed"), ["--ca", certificates.file("ca.pem"), "--fail"] + arguments)
        }
        let both = try examine("[h2, http/1.1]", [])
        #expect(both.names == ["loopback", "http2", "offered", "used"] && both.status == 0)
        let forced = try examine("[h2, http/1.1]", ["--http1.1"])
        #expect(forced.names == ["loopback", "offered", "used"] && forced.status == 0)
        let old = try examine("[http/1.1]", [])
        #expect(old.names == ["loopback", "http1-only", "offered", "used"])
        #expect(old.works && old.status == 1, "a warning, which --fail makes a failure")
        #expect(old.findings[1].text.contains("so browsers speak HTTP/1.1"))
        let demanded = try examine("[http/1.1]", ["--http2"])
        #expect(demanded.names == ["loopback", "no-answer"] && demanded.status == 1)
    }

    @Test func `the doctor says that no browser speaks HTTP/2 without TLS`() throws {
        let proxy = try ServedProxy(Origin(storable(feed(1))), in: TemporaryFolder())
        let known = try Consultation.of(proxy.url("/feed"), "--http2-prior-knowledge")
        #expect(known.names == ["loopback", "prior-knowledge", "offered", "used"] && known.works)
        #expect(try Consultation.of(proxy.url("/feed")).names == ["loopback", "offered", "used"])
    }
}
