internal import Foundation
internal import TestSupport
internal import Testing

/// Clients that do not do as they should.
@Suite(.timeLimit(.minutes(40))) struct TLSHandshakeTests {
    private func served(_ settings: String = "") throws -> SecureClient {
        let certificates = try TestCertificates()
        let origin = try Origin(
            wire("HTTP/1.1 200 OK", "Content-Type: text/plain", body: Array("hello\n".utf8)))
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), settings, listener: certificates.settings())
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    /// Ends each of the client's flights after every number of bytes, over TLS 1.2 and 1.3.
    private static let cuts = """
        import socket, ssl, sys
        port = int(sys.argv[1])
        count = 0

        def attempt(version, cut_flight, cut):
            # Whether the flight has more bytes than that.
            context = ssl.create_default_context(cafile="ca.pem")
            context.minimum_version = context.maximum_version = version
            incoming, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, out, server_hostname="localhost")
            number = 0
            with socket.create_connection(("127.0.0.1", port), timeout=300) as peer:
                while True:
                    try:
                        tls.do_handshake()
                        done = True
                    except ssl.SSLWantReadError:
                        done = False
                    data = out.read()
                    if data and number == cut_flight:
                        peer.sendall(data[:cut])
                        return cut < len(data)
                    if data:
                        peer.sendall(data)
                        number += 1
                    if done:
                        return False
                    incoming.write(peer.recv(65536))

        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for cut_flight in (0, 1):
                cut = 0
                while attempt(version, cut_flight, cut):
                    cut += 1
                    count += 1
        print(count)
        """

    @Test func `a handshake cut at any byte leaves nothing behind`() throws {
        let client = try served()
        #expect(try client.curl("/").code == 0)
        try waitUntil("the first connection has gone") { try client.openConnections == 0 }
        let descriptors = try client.descriptors
        let result = try client.python(Self.cuts)
        let count = try #require(
            Int(result.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(result.errors)")
        #expect(count > 500)
        try waitUntil("every connection has gone") { try client.openConnections == 0 }
        #expect(try client.descriptors == descriptors)
        #expect(try client.curl("/").carries(Array("hello\n".utf8)))
    }

    @Test func `a handshake that stalls ends after head_timeout, however it trickles`() throws {
        let client = try served("limits: {head_timeout: 400ms}")
        let silent = try WireSocket(port: client.proxy.port)
        let begun = try WireSocket(port: client.proxy.port)
        begun.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
        #expect(silent.receiveAll().isEmpty)
        #expect(begun.receiveAll().isEmpty)
        #expect([silent.ending, begun.ending].allSatisfy { $0 == .closed || $0 == .reset })
        #expect(try client.proxy.metric("dictum_tls_handshakes_total", where: "timed-out") == 2)
        try waitUntil("both have gone") { try client.openConnections == 0 }
    }

    @Test(arguments: [
        Array(repeating: UInt8(0xFF), count: 100_000), Array("SSH-2.0-OpenSSH_9\r\n".utf8),
        [0x16, 0x03, 0x01, 0xFF, 0xFF] + Array(repeating: 0, count: 70_000), [0x80, 0x2E, 0x01, 0x00, 0x02],
        [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28],
    ])
    func `garbage in place of a handshake leaves nothing behind`(garbage: [UInt8]) throws {
        let client = try served("limits: {head_timeout: 1s}")
        let socket = try WireSocket(port: client.proxy.port)
        socket.send(garbage)
        _ = socket.receiveAll()
        #expect(socket.ending == .closed || socket.ending == .reset)
        try waitUntil("it has gone") { try client.openConnections == 0 }
        #expect(client.proxy.origin.requests.isEmpty)
        #expect(try client.curl("/").code == 0)
    }

    @Test func `TLS 1.2 is not negotiated anew within a connection`() throws {
        let client = try served()
        // The letter R makes this client renegotiate.
        let command =
            "(echo R; sleep 5) | timeout 20 openssl s_client -connect 127.0.0.1:\(client.proxy.port) -tls1_2 2>&1"
        let said = try RunningProcess.run(["-c", command], of: "/bin/bash").text
        #expect(said.contains("RENEGOTIATING"))
        #expect(said.contains("no renegotiation"))
        #expect(try client.proxy.metric("dictum_tls_handshakes_total", where: "full") == 1)
        try waitUntil("it has gone") { try client.openConnections == 0 }
    }

    @Test func `many handshakes begun at once are all answered, and none is left`() throws {
        let client = try served("limits: {head_timeout: 2s}")
        let result = try client.python(
            """
            import socket, ssl, sys, threading
            port = int(sys.argv[1])
            done = []
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
            def fetch():
                context = ssl.create_default_context(cafile="ca.pem")
                for _ in range(10):
                    with socket.create_connection(("127.0.0.1", port), timeout=300) as peer:
                        with context.wrap_socket(peer, server_hostname="localhost") as tls:
                            tls.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                            data = b""
                            while piece := tls.recv(4096):
                                data += piece
                            done.append(data.endswith(b"hello\\n"))
            threads = [threading.Thread(target=fetch) for _ in range(20)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(sum(done))
            """)
        #expect(result.text == "200\n", "\(result.errors)")
        try waitUntil("every connection has gone") { try client.openConnections == 0 }
    }

    @Test func `a handshake under way at SIGTERM is ended, and its first request answered`() throws {
        let client = try served()
        let result = try client.python(
            """
            import os, signal, socket, ssl, sys
            port = int(sys.argv[1])
            context = ssl.create_default_context(cafile="ca.pem")
            incoming, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, out, server_hostname="localhost")
            with socket.create_connection(("127.0.0.1", port), timeout=300) as peer:
                try:
                    tls.do_handshake()
                except ssl.SSLWantReadError:
                    peer.sendall(out.read())
                flight = peer.recv(65536)
                os.kill(\(client.proxy.process.pid), signal.SIGTERM)
                try:
                    while True:
                        socket.create_connection(("127.0.0.1", port)).close()
                except OSError:
                    pass
                incoming.write(flight)
                while True:
                    try:
                        tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        peer.sendall(out.read())
                        incoming.write(peer.recv(65536))
                tls.write(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
                peer.sendall(out.read())
                while piece := peer.recv(65536):
                    incoming.write(piece)
            print(tls.read(65536).decode().splitlines()[0])
            """)
        #expect(result.text == "HTTP/1.1 200 OK\n", "\(result.errors)")
        #expect(try client.proxy.process.result().status == 0)
    }

    @Test func `a client beyond the limit of connections is counted as rejected`() throws {
        let client = try served("limits: {connections: 1}")
        let held = try WireSocket(port: client.proxy.port)
        try waitUntil("it has its place") { try client.openConnections == 1 }
        let late = try WireSocket(port: client.proxy.port)
        #expect(late.receiveAll().isEmpty)
        #expect(try client.proxy.metric("dictum_rejected_requests_total", where: "too-many-connections") == 1)
        held.finish()
        try waitUntil("there is room again") { try client.curl("/").code == 0 }
    }
}
