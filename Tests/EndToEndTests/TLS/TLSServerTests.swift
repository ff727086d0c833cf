internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 3, items: 200)

/// curl, OpenSSL's own client and Python's before a listener that speaks TLS.
@Suite(.timeLimit(.minutes(40))) struct TLSServerTests {
    private func served(
        _ origin: Origin? = nil, _ settings: String = "", tls: String = "", listener: String = ""
    ) throws -> SecureClient {
        let certificates = try TestCertificates()
        let origin =
            try origin
            ?? Origin(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: body))
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), settings, listener: certificates.settings("server", tls) + listener
        )
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    @Test(arguments: ["1.2", "1.3"])
    func `curl gets the answer, and the upstream hears of https`(version: String) throws {
        let client = try served()
        let answer = try client.curl("/feed", "--tls-max", version, "--tlsv\(version)")
        #expect(answer.carries(body))
        #expect(client.proxy.origin.requests.first?["X-Forwarded-Proto"] == "https")
        #expect(try client.curl("/feed", "--compressed").carries(body))
    }

    @Test func `the transport is secure, so that dictionaries are used`() throws {
        let client = try served(nil, "explain: on\nroutes: [{match: \"/*\"}]")
        let answer = try client.curl("/feed")
        #expect(answer.head["Use-As-Dictionary"] != nil)
    }

    @Test(arguments: ["-tls1 -cipher ALL:@SECLEVEL=0", "-tls1_1 -cipher ALL:@SECLEVEL=0"])
    func `what is older than TLS 1.2 is refused`(options: String) throws {
        #expect(try served().sClient(options).contains("protocol version"))
    }

    @Test func `min_version 1.3 refuses TLS 1.2`() throws {
        let client = try served(tls: ", min_version: \"1.3\"")
        #expect(try client.sClient("-tls1_2").contains("protocol version"))
        #expect(try client.curl("/feed").carries(body))
    }

    @Test(arguments: ["AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256", "NULL-SHA256"])
    func `ciphers without forward secrecy or without authenticated encryption are refused`(name: String)
        throws
    {
        #expect(
            try served().sClient("-tls1_2", "-cipher", "\(name):@SECLEVEL=0").contains("handshake failure"))
    }

    @Test func `ALPN prefers h2, and without it the client speaks HTTP/1.1`() throws {
        let client = try served()
        #expect(try client.sClient("-alpn", "http/1.1,h2").contains("ALPN protocol: h2"))
        #expect(try client.sClient("-alpn", "http/1.1").contains("ALPN protocol: http/1.1"))
        #expect(try client.sClient().contains("No ALPN negotiated"))
        let curl = [
            "--cacert", client.certificates.file("ca.pem"), "-w", "%{http_version}", "-o", "/dev/null", "-sS",
        ]
        let version = try RunningProcess.run(
            ["curl"] + curl + ["--max-time", "60", client.proxy.url("/feed")], of: "/usr/bin/env")
        #expect(version.text == "2")
    }

    @Test func `ALPN takes http/1.1 among others, and refuses a client that speaks only others`() throws {
        let client = try served(listener: ", protocols: [http/1.1]")
        #expect(try client.sClient("-alpn", "h2,http/1.1").contains("ALPN protocol: http/1.1"))
        #expect(try client.sClient("-alpn", "http/1.0,http/1.1").contains("ALPN protocol: http/1.1"))
        // RFC 7301 section 3.2.
        #expect(try client.sClient("-alpn", "h2,spdy/3").contains("no application protocol"))
        #expect(try client.sClient().contains("No ALPN negotiated"))
    }

    @Test func `a body that ends with the connection ends with close_notify, and one cut off does not`()
        throws
    {
        let origin = try Origin { request, connection in
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    "Transfer-Encoding: chunked"))
            connection.send(chunk(body))
            if request.target == "/whole" { connection.send(chunk([])) } else { connection.finish() }
        }
        let client = try served(origin, "compression: {types: []}")
        #expect(try client.curl("/whole", "--http1.0").carries(body))
        // RFC 8446 section 6.1: without close_notify an attacker may have truncated the body.
        #expect(try client.curl("/cut", "--http1.0").code != 0)
    }

    @Test(arguments: [true, false])
    func `a tunnel that the client ends has that end at the upstream, and one cut off is reset`(
        isCutOff: Bool
    ) throws {
        let (ended, ending) = (Gate(), Guarded<WireSocket.Ending?>(nil))
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"))
            _ = connection.receiveAll()
            ending.withLock { $0 = connection.ending }
            ended.open()
        }
        let client = try served(origin)
        let result = try client.python(Self.tunnel + (isCutOff ? "cut()" : "secured.unwrap()"))
        #expect(result.status == 0, "\(result.errors)")
        #expect(ended.wait())
        // RFC 8446 section 6.1: without close_notify an attacker may have cut it off.
        #expect(ending.withLock { $0 } == (isCutOff ? .reset : .closed))
    }

    /// Opens a tunnel over TLS; `cut` ends its connection without close_notify.
    private static let tunnel = """
        import socket, ssl, sys
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
        secured = ssl.create_default_context(cafile="ca.pem").wrap_socket(plain, server_hostname="localhost")
        secured.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n")
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += secured.recv(1)
        assert head.startswith(b"HTTP/1.1 101 "), head
        def cut():
            secured.shutdown(socket.SHUT_WR)

        """

    @Test(arguments: ["1.2", "1.3"])
    func `large bodies pass both ways, to a slow reader too`(version: String) throws {
        let large = Noise.bytes(6_000_000, seed: 5)
        let origin = try Origin { request, connection in
            let answer = request.method == "POST" ? request.body : large
            connection.send(wire("HTTP/1.1 200 OK", "Content-Type: image/png", body: answer))
        }
        let client = try served(origin)
        #expect(try client.curl("/large", "--tls-max", version).carries(large))
        #expect(try client.curl("/large", "--limit-rate", "4M", "--tls-max", version).carries(large))
        try client.proxy.folder.write(large, to: "upload")
        #expect(try client.curl("/large", "--data-binary", "@upload", "--tls-max", version).carries(large))
    }

    @Test func `HTTP without TLS is told so in clear`() throws {
        let client = try served()
        let socket = try WireSocket(port: client.proxy.port)
        socket.send(wire("GET / HTTP/1.1", "Host: a"))
        let answer = try socket.receive()
        #expect(answer.status == 400)
        #expect(answer.text.contains("use https"))
        #expect(socket.receiveAll().isEmpty)
        #expect(client.proxy.origin.requests.isEmpty)
    }

    @Test func `a PROXY protocol header comes before TLS, in clear`() throws {
        let client = try served(listener: ", proxy_protocol: on")
        #expect(try client.curl("/feed", "--haproxy-protocol").carries(body))
        #expect(client.proxy.origin.requests.first?["X-Forwarded-Proto"] == "https")
        #expect(try client.curl("/feed").code != 0)
    }

    @Test(arguments: ["1_2", "1_3"])
    func `a session is resumed, over a reload too`(version: String) throws {
        let client = try served(nil, "explain: off")
        let head = "GET / HTTP/1.0\r\n\r\n"
        #expect(try client.sClient("-tls\(version)", "-sess_out session", input: head).contains("New, TLS"))
        #expect(try client.sClient("-tls\(version)", "-sess_in session", input: head).contains("Reused, TLS"))
        client.proxy.process.signal(SIGHUP)
        _ = try client.proxy.process.waitFor("is in effect")
        #expect(try client.sClient("-tls\(version)", "-sess_in session", input: head).contains("Reused, TLS"))
        #expect(try client.proxy.metric("dictum_tls_handshakes_total", where: "full") == 1)
        #expect(try client.proxy.metric("dictum_tls_handshakes_total", where: "resumed") == 2)
    }
}
