internal import Foundation
internal import TestSupport
internal import Testing

/// Tests five hundred handshakes at once, most of which fail.
@Suite(.timeLimit(.minutes(40))) struct TLSFloodTests {
    private static let hello = Array("hello\n".utf8)
    private static let rounds = 3
    private static let whole = 100
    private static let others = 400

    /// Four hundred connections that are silent, send a part of a ClientHello, nothing behind it, garbage behind it, or end
    /// it by a reset; while they are there, a hundred that fetch something.
    private static let flood = """
        import socket, ssl, struct, sys, threading
        port = int(sys.argv[1])
        waiting, done = [], []

        def hello():
            outgoing = ssl.MemoryBIO()
            context = ssl.create_default_context(cafile="ca.pem")
            tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                return outgoing.read()

        first = hello()
        for number in range(400):
            peer = socket.create_connection(("127.0.0.1", port), timeout=60)
            kind = number % 5
            if kind == 1:
                peer.sendall(first[:len(first) // 2])
            elif kind == 2:
                peer.sendall(first)
            elif kind == 3:
                peer.sendall(first)
                peer.recv(100)
                peer.sendall(b"\\x17\\x03\\x03\\x00\\x64" + bytes(100))
            elif kind == 4:
                peer.sendall(first)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.close()
                continue
            waiting.append(peer)

        def fetch(count):
            context = ssl.create_default_context(cafile="ca.pem")
            for _ in range(count):
                with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
                    with context.wrap_socket(peer, server_hostname="localhost") as tls:
                        tls.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                        data = b""
                        while piece := tls.recv(4096):
                            data += piece
                        done.append(data.endswith(b"hello\\n"))

        threads = [threading.Thread(target=fetch, args=(5,)) for _ in range(20)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        ended = 0
        for peer in waiting:
            try:
                while peer.recv(65536):
                    pass
                ended += 1
            except ConnectionResetError:
                ended += 1
            except TimeoutError:
                pass
        print(sum(done), ended)
        """

    @Test func `a flood of handshakes leaves no connection, descriptor or memory behind`() throws {
        let certificates = try TestCertificates()
        // A connection to the upstream that is kept would be a descriptor more.
        let origin = try Origin { _, connection in
            connection.send(
                wire("HTTP/1.1 200 OK", "Content-Type: text/plain", "Connection: close", body: Self.hello))
            connection.finish()
        }
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), "limits: {head_timeout: 3s}", listener: certificates.settings())
        let client = SecureClient(proxy: proxy, certificates: certificates)
        #expect(try client.curl("/").carries(Self.hello))
        try waitUntil("the first connection has gone") { try client.openConnections == 0 }
        let descriptors = try client.descriptors
        var memory: [Double] = []
        for round in 1...Self.rounds {
            let result = try client.python(Self.flood)
            #expect(result.text == "\(Self.whole) \(Self.others * 4 / 5)\n", "\(result.errors)")
            try waitUntil("every connection has gone") { try client.openConnections == 0 }
            #expect(try client.handshakes("full") == Double(round * Self.whole + 1))
            try waitUntil("every handshake has been counted") {
                try client.handshakes("failed") + client.handshakes("timed-out")
                    == Double(round * Self.others)
            }
            #expect(try client.descriptors == descriptors)
            memory.append(try proxy.metric("process_resident_memory_bytes"))
        }
        // The first round makes room that the others use: one left connection of OpenSSL takes 20 KB and more.
        let growth = try #require(memory.last) - memory[0]
        #expect(growth < 8 * 1024 * 1024, "\(memory)")
        #expect(try client.curl("/").carries(Self.hello))
    }
}

extension SecureClient {
    /// Client connections that the proxy has open.
    var openConnections: Double {
        get throws { try proxy.metric("dictum_connections", where: "client") }
    }

    /// Descriptors that the proxy has open; the one of the scrape always among them.
    var descriptors: Double {
        get throws { try proxy.metric("process_open_fds") }
    }

    /// Handshakes that came to this.
    func handshakes(_ result: String) throws -> Double {
        try proxy.metric("dictum_tls_handshakes_total", where: "\"\(result)\"")
    }
}
