internal import Foundation
internal import TestSupport
internal import Testing

private let hello = Array("hello\n".utf8)

/// Requests with the first bytes of a resumed session (RFC 8446 section 2.3, RFC 8470).
@Suite(.timeLimit(.minutes(40))) struct TLSEarlyDataTests {
    private func served(
        _ tls: String = ", early_data: true", _ settings: String = "", origin: Origin? = nil
    ) throws -> SecureClient {
        let certificates = try TestCertificates()
        let origin = try origin ?? Origin(wire("HTTP/1.1 200 OK", "Content-Type: text/plain", body: hello))
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), settings, listener: certificates.settings("server", tls))
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    /// Begins a session, and returns the output of OpenSSL's client.
    @discardableResult
    private func begin(_ client: SecureClient, _ name: String = "session") throws -> String {
        try client.sClient("-tls1_3", "-sess_out \(name)")
    }

    /// Sends `early` as early data, and `rest` once the handshake is complete.
    private func resume(_ client: SecureClient, early: String, rest: String = "") throws -> String {
        try client.certificates.write(early, to: "early")
        return try client.sClient("-tls1_3", "-sess_in session", "-early_data early", input: rest)
    }

    private static let get = "GET /a HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"

    @Test func `a safe request is answered early, and the upstream is told`() throws {
        let client = try served()
        let first = try begin(client)
        #expect(first.contains("Max Early Data: 16384"))
        let said = try resume(client, early: Self.get)
        #expect(said.contains("Early data was accepted"))
        #expect(said.contains("Reused, TLSv1.3"))
        #expect(said.contains("HTTP/1.1 200 OK"))
        #expect(said.contains("\nhello\n"))
        #expect(client.proxy.origin.requests.map(\.target) == ["/", "/a"])
        #expect(try client.proxy.metric("dictum_tls_handshakes_total", where: "resumed") == 1)
    }

    @Test func `over HTTP/2 a safe request is forwarded early, and another waits for the handshake`() throws {
        let client = try served(", early_data: true", "limits: {head_timeout: 5s, keepalive_timeout: 1s}")
        #expect(
            try client.sClient("-tls1_3 -alpn h2 -sess_out session", input: "").contains("ALPN protocol: h2"))
        func request(_ stream: Int32, _ method: String, _ path: String) -> [UInt8] {
            let fields = [
                (":method", method), (":scheme", "https"), (":authority", "api.test"), (":path", path),
            ]
            return HTTP2Peer.frame(
                HTTP2Peer.Kind.headers, 5, stream: stream, payload: HTTP2Peer.block(fields))
        }
        let early =
            HTTP2Peer.preface + HTTP2Peer.frame(HTTP2Peer.Kind.settings) + request(1, "GET", "/a")
            + request(3, "DELETE", "/b")
        try Data(early).write(to: URL(filePath: client.certificates.file("early")))
        let result = try client.python(Self.relay + #"relay(hold=True, more=["-alpn", "h2"])"#)
        #expect(result.status == 0, "\(result.errors)")
        let requests = client.proxy.origin.requests
        #expect(requests.map(\.target) == ["/a"], "the handshake is never complete")
        #expect(requests.map { $0.values("Early-Data") } == [["1"]])
    }

    @Test func `by default none is taken, and the request is answered after the handshake`() throws {
        let client = try served("")
        #expect(try begin(client).contains("Max Early Data: 0"))
        let said = try resume(client, early: Self.get, rest: Self.get)
        #expect(said.contains("Early data was not sent"))
        #expect(said.contains("Reused, TLSv1.3"))
        #expect(said.contains("\nhello\n"))
        #expect(client.proxy.origin.requests.map { $0.values("Early-Data") } == [[], []])
    }

    @Test func `a session is taken once: its second early request is none, and that connection goes on`()
        throws
    {
        let client = try served()
        try begin(client)
        #expect(try resume(client, early: Self.get).contains("Early data was accepted"))
        let said = try resume(client, early: Self.get, rest: Self.get)
        #expect(said.contains("Early data was rejected"))
        #expect(said.contains("New, TLSv1.3"))
        #expect(said.contains("\nhello\n"))
        #expect(client.proxy.origin.requests.count == 3)
        #expect(client.proxy.origin.requests.last?.values("Early-Data") == [])
    }

    @Test func `what somebody has recorded is no request a second time`() throws {
        let client = try served()
        try begin(client)
        try client.certificates.write(Self.get, to: "early")
        let result = try client.python(
            Self.relay + """
                recorded = relay(hold=False)
                with socket.create_connection(("127.0.0.1", port), timeout=300) as copy:
                    copy.sendall(recorded)
                    copy.shutdown(socket.SHUT_WR)
                    answer = b""
                    while piece := copy.recv(65536):
                        answer += piece
                print(len(recorded) > 300, answer[0])
                """)
        // A handshake record: the proxy begins a new handshake.
        #expect(result.text == "True 22\n", "\(result.errors)")
        #expect(client.proxy.origin.requests.count == 2)
    }

    /// A relay between OpenSSL's client and the proxy that records the client's bytes up to the end of the early data.
    ///
    /// With `hold` it forwards no later records. Once 2000 bytes have come back, it sends `end` and stops sending.
    private static let relay = """
        import socket, subprocess, sys, threading
        port = int(sys.argv[1])
        came = []

        def relay(hold, end=None, more=()):
            listener = socket.create_server(("127.0.0.1", 0))
            there = str(listener.getsockname()[1])
            asker = subprocess.Popen(
                ["timeout", "20", "openssl", "s_client", "-connect", "127.0.0.1:" + there, "-CAfile", "ca.pem",
                 "-ign_eof", "-tls1_3", "-sess_in", "session", "-early_data", "early", *more],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            near, _ = listener.accept()
            far = socket.create_connection(("127.0.0.1", port), timeout=300)

            def back():
                count = 0
                try:
                    while piece := far.recv(65536):
                        near.sendall(piece)
                        count += len(piece)
                        if end is not None and count > 2000:
                            far.sendall(end)
                            far.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                came.append(count)
                try:
                    near.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            answers = threading.Thread(target=back)
            answers.start()
            recorded, rest, early = b"", b"", False
            while True:
                try:
                    piece = near.recv(65536)
                except OSError:
                    break
                if not piece:
                    break
                rest += piece
                while len(rest) >= 5 and len(rest) >= 5 + int.from_bytes(rest[3:5]):
                    length = 5 + int.from_bytes(rest[3:5])
                    record, rest = rest[:length], rest[length:]
                    if not early:
                        recorded += record
                    if not (early and hold):
                        far.sendall(record)
                    early = early or record[0] == 23
            answers.join()
            asker.wait()
            return recorded


        """

    @Test(arguments: [
        ("GET /a HTTP/1.1\r\nHost: a", 2), ("HEAD /a HTTP/1.1\r\nHost: a", 2),
        ("OPTIONS /a HTTP/1.1\r\nHost: a", 2),
        ("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0", 1), ("DELETE /a HTTP/1.1\r\nHost: a", 1),
        ("GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1", 1),
        ("GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket", 1),
    ])
    func `before the handshake is whole only safe requests go on, and it must become whole in time`(
        head: String, count: Int
    ) throws {
        let client = try served(", early_data: true", "limits: {head_timeout: 5s}")
        try begin(client)
        try client.certificates.write(head + "\r\n\r\n", to: "early")
        let result = try client.python(Self.relay + "relay(hold=True)")
        #expect(result.status == 0, "\(result.errors)")
        // The client never ends its handshake, since data that arrives together with the end no longer counts as early.
        let expected = count == 2 ? [[], ["1"]] : [[]]
        #expect(client.proxy.origin.requests.map { $0.values("Early-Data") } == expected)
        try waitUntil("it has gone") { try client.proxy.metric("dictum_connections", where: "client") == 0 }
        // The handshake of `begin` is complete, and this one timed out without resuming the session.
        try expectHandshakes(client, full: 1, timedOut: 1)
    }

    private func expectHandshakes(
        _ client: SecureClient, full: Double = 0, resumed: Double = 0, failed: Double = 0,
        timedOut: Double = 0
    ) throws {
        #expect(try client.handshakes("full") == full)
        #expect(try client.handshakes("resumed") == resumed)
        #expect(try client.handshakes("failed") == failed)
        #expect(try client.handshakes("timed-out") == timedOut)
    }

    /// In place of the end of the client's handshake: the end of its connection, or a record that no key opens.
    @Test(arguments: ["b''", "bytes.fromhex('1703030020') + b'0' * 32"])
    func `a handshake that fails behind its early data is failed, not resumed`(end: String) throws {
        let body = Array(String(repeating: "x", count: 4000).utf8)
        let client = try served(
            origin: Origin(wire("HTTP/1.1 200 OK", "Content-Type: text/plain", body: body)))
        try begin(client)
        try client.certificates.write(Self.get, to: "early")
        let result = try client.python(Self.relay + "relay(hold=True, end=\(end))")
        #expect(result.status == 0, "\(result.errors)")
        #expect(client.proxy.origin.requests.map { $0.values("Early-Data") } == [[], ["1"]])
        try waitUntil("it has gone") { try client.proxy.metric("dictum_connections", where: "client") == 0 }
        try expectHandshakes(client, full: 1, failed: 1)
    }

    /// As many bytes: a long head, and small requests behind it.
    private static func early(bytes: Int) -> String {
        let other = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
        let head = "GET /a HTTP/1.1\r\nHost: a\r\nPadding: "
        let padding = 7_000 + (bytes - 7_000 - head.utf8.count - 4) % other.utf8.count
        var text = head + String(repeating: "p", count: padding) + "\r\n\r\n"
        while text.utf8.count < bytes { text += other }
        return text
    }

    @Test func `early data of many records is taken up to its bound`() throws {
        let client = try served()
        try begin(client)
        let early = Self.early(bytes: 16 * 1024)
        try #require(early.utf8.count == 16 * 1024)
        try client.certificates.write(early, to: "early")
        let said = try client.sClient(
            "-tls1_3", "-sess_in session", "-max_send_frag 512", "-early_data early", input: Self.get)
        #expect(said.contains("Early data was accepted"))
        let count = early.components(separatedBy: "GET /").count - 1
        #expect(count > 100)
        #expect(client.proxy.origin.requests.count == count + 2)
        #expect(said.components(separatedBy: "HTTP/1.1 200 OK").count == count + 2)
        try expectHandshakes(client, full: 1, resumed: 1)
    }

    /// Has the session that OpenSSL's client keeps allow twice as much as the proxy said.
    private static let forge = """
        import base64
        lines = open("session").read().splitlines()
        end = lines.index("-----END SSL SESSION PARAMETERS-----")
        start = lines.index("-----BEGIN SSL SESSION PARAMETERS-----") + 1
        data = base64.b64decode("".join(lines[start:end]))
        said, wanted = bytes.fromhex("af0402024000"), bytes.fromhex("af0402027fff")
        assert data.count(said) == 1
        text = base64.b64encode(data.replace(said, wanted)).decode()
        lines[start:end] = [text[place:place + 64] for place in range(0, len(text), 64)]
        open("session", "w").write("\\n".join(lines) + "\\n")
        """

    @Test func `a client that sends more early data than it may is cut off, and was not resumed`() throws {
        let client = try served()
        try begin(client)
        let forged = try client.python(Self.forge)
        #expect(forged.status == 0, "\(forged.errors)")
        try client.certificates.write(Self.early(bytes: 20_000), to: "early")
        _ = try client.sClient(
            "-tls1_3", "-sess_in session", "-max_send_frag 512", "-early_data early", input: Self.get)
        // The requests within the bound may have gone on, as any early ones.
        let most = Self.early(bytes: 16 * 1024).components(separatedBy: "GET /").count - 1
        #expect(client.proxy.origin.requests.count <= 1 + most)
        try waitUntil("it has gone") { try client.proxy.metric("dictum_connections", where: "client") == 0 }
        try expectHandshakes(client, full: 1, failed: 1)
        #expect(try client.curl("/").carries(hello))
    }

    @Test(arguments: [
        ("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n1234", ""),
        ("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n12", "34"),
        ("GET /a HTTP/1.1\r\nHost: a\r\nConnec", "tion: close\r\n\r\n"),
    ])
    func `what waits for the handshake is answered after it, and is not early`(early: String, rest: String)
        throws
    {
        let client = try served()
        try begin(client)
        let said = try resume(client, early: early, rest: rest)
        #expect(said.contains("Early data was accepted"))
        #expect(said.contains("\nhello\n"))
        let request = try #require(client.proxy.origin.requests.last)
        #expect(client.proxy.origin.requests.count == 2)
        #expect(request.values("Early-Data").isEmpty)
    }

    /// The parts of the body `1234` that come before the end of the handshake, and behind it.
    @Test(arguments: [("1234", nil), ("12", "34"), ("", "1234")] as [(String, String?)])
    func `over HTTP/2 the body of a request that waits comes whole`(early: String, rest: String?) throws {
        let client = try served(", early_data: true", "limits: {keepalive_timeout: 1s}")
        #expect(
            try client.sClient("-tls1_3 -alpn h2 -sess_out session", input: "").contains("ALPN protocol: h2"))
        func part(_ text: String, endsStream: Bool) -> [UInt8] {
            HTTP2Peer.frame(
                HTTP2Peer.Kind.data, endsStream ? 1 : 0, stream: 1, payload: Array(text.utf8))
        }
        let fields = [
            (":method", "POST"), (":scheme", "https"), (":authority", "api.test"), (":path", "/a"),
            ("content-length", "4"),
        ]
        let head = HTTP2Peer.frame(
            HTTP2Peer.Kind.headers, 4, stream: 1, payload: HTTP2Peer.block(fields))
        let bytes =
            HTTP2Peer.preface + HTTP2Peer.frame(HTTP2Peer.Kind.settings) + head
            + part(early, endsStream: rest == nil)
        try Data(bytes).write(to: URL(filePath: client.certificates.file("early")))
        try Data(rest.map { part($0, endsStream: true) } ?? [])
            .write(to: URL(filePath: client.certificates.file("rest")))
        let result = try client.python(Self.late)
        #expect(result.text == "accepted\n", "\(result.errors)")
        let requests = client.proxy.origin.requests
        #expect(requests.map(\.target) == ["/a"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1234"])
        #expect(requests.map { $0.values("Early-Data") } == [[]])
    }

    /// Resumes with the file `early` as early data, and sends `rest` once the handshake is complete.
    private static let late = """
        import subprocess, sys
        there = "127.0.0.1:" + sys.argv[1]
        with open("rest") as rest:
            said = subprocess.run(
                ["timeout", "20", "openssl", "s_client", "-connect", there, "-CAfile", "ca.pem", "-ign_eof",
                 "-tls1_3", "-alpn", "h2", "-sess_in", "session", "-early_data", "early"],
                stdin=rest, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        print("accepted" if b"Early data was accepted" in said else said)
        """

    @Test func `several early requests are answered in order, with the later ones of the connection`() throws
    {
        let client = try served()
        try begin(client)
        let kept = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        let said = try resume(client, early: kept + kept, rest: kept + Self.get)
        #expect(said.components(separatedBy: "HTTP/1.1 200 OK").count == 5)
        #expect(client.proxy.origin.requests.count == 5)
    }

    @Test func `an answer larger than what goes early comes whole`() throws {
        let body = Array(String(repeating: "0123456789abcde\n", count: 100_000).utf8)
        let client = try served(
            ", early_data: true", "limits: {head_timeout: 5s}",
            origin: Origin(wire("HTTP/1.1 200 OK", "Content-Type: text/plain", body: body)))
        try begin(client)
        let said = try resume(client, early: Self.get)
        #expect(said.contains("Early data was accepted"))
        #expect(said.contains(String(decoding: body, as: UTF8.self)))
        // A client that never ends its handshake may be a replay.
        try begin(client)
        let result = try client.python(Self.relay + "relay(hold=True)\nprint(came[0])")
        let early = try #require(Int(result.text.dropLast()), "\(result.errors)")
        #expect(32 * 1024...52 * 1024 ~= early)
    }

    @Test func `425 of the upstream goes to the client, which asks again`() throws {
        let origin = try Origin { request, connection in
            let isEarly = request["Early-Data"] != nil
            connection.send(
                wire(isEarly ? "HTTP/1.1 425 Too Early" : "HTTP/1.1 200 OK", "Content-Length: 0"))
        }
        let client = try served(origin: origin)
        try begin(client)
        let said = try resume(
            client, early: "GET /a HTTP/1.1\r\nHost: a\r\nEarly-Data: 1\r\n\r\n", rest: Self.get)
        #expect(said.contains("HTTP/1.1 425 Too Early"))
        #expect(said.contains("HTTP/1.1 200 OK"))
    }

    @Test func `a client's own Early-Data stays as it is, also where Connection names it`() throws {
        let client = try served()
        #expect(
            try client.curl("/a", "-H", "Early-Data: 1", "-H", "Connection: early-data").carries(hello))
        try begin(client)
        let early = "GET /a HTTP/1.1\r\nHost: a\r\nEarly-Data: 1\r\nConnection: close\r\n\r\n"
        #expect(try resume(client, early: early).contains("Early data was accepted"))
        #expect(client.proxy.origin.requests.map { $0.values("Early-Data") } == [["1"], [], ["1"]])
    }

    @Test func `a certificate that is read again ends the sessions, and nothing else`() throws {
        let client = try served()
        try begin(client)
        try client.certificates.issue("server", names: "IP:127.0.0.1")
        client.proxy.process.signal(SIGHUP)
        _ = try client.proxy.process.waitFor("is in effect")
        let said = try resume(client, early: Self.get, rest: Self.get)
        #expect(said.contains("Early data was rejected"))
        #expect(said.contains("\nhello\n"))
    }
}
