internal import Foundation
internal import TestSupport
internal import Testing

/// A TLS upstream in Python, so that OpenSSL is called by another program.
///
/// `/info` reports facts about the connection. `/open` and `/cut` have no length; only `/open` ends with close_notify, and
/// its socket stays open until the client's one comes.
final class SecureOrigin {
    let process: RunningProcess
    let port: UInt16

    /// When the upstream asks for a client certificate; `later` is after the request (RFC 8446 section 4.6.2).
    enum Asks: String {
        case never = "", atOnce, later
    }

    /// Starts with a certificate of the folder.
    init(
        _ certificates: TestCertificates, _ name: String = "server", asks: Asks = .never, version: String = ""
    ) throws {
        try certificates.write(Self.script, to: "origin.py")
        process = try RunningProcess(
            ["-u", "origin.py", name, asks.rawValue, version], of: "/usr/bin/python3",
            in: certificates.path)
        let said = try process.waitFor("port ")
        let match = try #require(said.firstMatch(of: /port ([0-9]+)/))
        port = try #require(UInt16(match.output.1))
    }

    deinit { process.stop() }

    private static let script = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1] + ".pem", sys.argv[1] + ".key")
        context.set_alpn_protocols(["http/1.1"])
        if sys.argv[2]:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations("ca.pem")
            context.post_handshake_auth = sys.argv[2] == "later"
        if sys.argv[3]:
            context.maximum_version = ssl.TLSVersion[sys.argv[3]]
        names = {}
        def named(connection, name, context):
            names[id(connection)] = name
        context.sni_callback = named
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(f"port {listener.getsockname()[1]}")

        def serve(plain):
            try:
                tls = context.wrap_socket(plain, server_side=True)
            except (ssl.SSLError, OSError):
                return plain.close()
            request = b""
            while b"\\r\\n\\r\\n" not in request:
                piece = tls.recv(65536)
                if not piece:
                    return tls.close()
                request += piece
            path = request.split(b" ")[1]
            if sys.argv[2] == "later":
                tls.verify_client_post_handshake()
                tls.do_handshake()
                tls.settimeout(0.1)
                for _ in range(100):
                    if tls.getpeercert():
                        break
                    try:
                        tls.recv(1)
                    except TimeoutError:
                        pass
                tls.settimeout(60)
            head = b"HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nConnection: close\\r\\n"
            if path == b"/info":
                subject = tls.getpeercert() and tls.getpeercert()["subject"]
                text = f"{tls.version()} sni={names.get(id(tls))} subject={subject} reused={tls.session_reused} "
                text = (text + f"alpn={tls.selected_alpn_protocol()}\\n").encode()
                tls.sendall(head + b"Content-Length: %d\\r\\n\\r\\n" % len(text) + text)
            else:
                tls.sendall(head.replace(b"Connection: close\\r\\n", b"") + b"\\r\\n" + b"hello " * 5000)
            if path != b"/cut":
                try:
                    tls.unwrap()
                except (ssl.SSLError, OSError):
                    pass
            tls.close()

        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
