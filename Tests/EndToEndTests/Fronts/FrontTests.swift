internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// nginx, Caddy and HAProxy in front of Dictum, configured as `deploy/INSTALL.md` says.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FrontTests {
    /// An API behind Dictum behind a front that ends TLS.
    private final class Served {
        let certificates: TestCertificates
        let proxy: ServedProxy
        let port: UInt16
        private let folder: TemporaryFolder
        private let front: RunningProcess

        init(_ front: Front) throws {
            certificates = try TestCertificates()
            folder = try TemporaryFolder()
            let version = Guarded(0)
            let origin = try Origin { request, connection in
                switch request.target {
                case "/socket": Self.echo(request, on: connection)
                case "/upload":
                    connection.send(wire("HTTP/1.1 200 OK", body: Array("\(request.body.count)".utf8)))
                default:
                    let number = version.withLock { number in
                        number += 1
                        return number
                    }
                    connection.send(
                        wire(
                            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600",
                            body: Feed.bytes(version: number, items: 100)))
                }
            }
            proxy = try ServedProxy(origin, in: TemporaryFolder())
            port = try Front.freePort()
            self.front = try front.start(port: port, before: proxy.port, certificates, in: folder)
            try waitUntil("\(front) accepts") { (try? WireSocket(port: port)) != nil }
        }

        deinit {
            _ = try? front.terminate()
        }

        /// A WebSocket's handshake, and then its bytes back.
        private static func echo(_ request: WireMessage, on connection: WireSocket) {
            guard request["Upgrade"]?.lowercased() == "websocket",
                request["Connection"]?.lowercased() == "upgrade"
            else { return _ = connection.send(wire("HTTP/1.1 426 Upgrade Required", body: [])) }
            connection.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                    // Derived from the client's key (RFC 6455 section 1.3), and checked by HAProxy.
                    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
            while let bytes = connection.receiveExactly(4) { connection.send(bytes) }
        }

        func fetch(_ arguments: String...) throws -> ProcessResult {
            try RunningProcess.run(
                ["fetch", "https://localhost:\(port)/feed", "--ca", certificates.file("ca.pem"), "--json"]
                    + arguments)
        }
    }

    private func ifInstalled(_ front: Front, _ body: (Served) throws -> Void) throws {
        guard front.program != nil else {
            print("skipped: \(front.absence)")
            return
        }
        try body(Served(front))
    }

    @Test(arguments: Front.allCases)
    func `deltas pass, and connections to Dictum are kept`(front: Front) throws {
        try ifInstalled(front) { served in
            let cache = try TemporaryFolder()
            _ = try served.fetch("--cache", cache.path)
            let second = try served.fetch("--cache", cache.path)
            #expect(second.text.contains(#""coding":"dcz""#), "\(second.text) \(second.errors)")
            let before = try served.proxy.metric("dictum_connections_total", where: #"side="client""#)
            for _ in 0..<10 { #expect(try served.fetch("--cache", cache.path).status == 0) }
            let after = try served.proxy.metric("dictum_connections_total", where: #"side="client""#)
            #expect(after - before <= 3, "\(after - before) connections for ten requests")
        }
    }

    @Test(arguments: Front.allCases)
    func `a front speaks HTTP/2 to clients, and Dictum's deltas pass`(front: Front) throws {
        try ifInstalled(front) { served in
            let cache = try TemporaryFolder()
            for turn in 1...3 {
                let result = try served.fetch("--cache", cache.path, "--http2", "-o", "\(cache.path)/body")
                #expect(
                    result.status == 0 && result.text.contains(#""protocol":"HTTP/2""#), "\(result.errors)")
                #expect(result.text.contains(#""coding":"dcz""#) == (turn > 1), "\(result.text)")
                #expect(cache.read("body") == Feed.bytes(version: turn, items: 100))
            }
        }
    }

    @Test(arguments: Front.allCases)
    func `a WebSocket passes, both ways`(front: Front) throws {
        try ifInstalled(front) { served in
            let script = """
                import socket, ssl, sys
                context = ssl.create_default_context(cafile="ca.pem")
                context.set_alpn_protocols(["http/1.1"])
                raw = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
                client = context.wrap_socket(raw, server_hostname="localhost")
                client.sendall(b"GET /socket HTTP/1.1\\r\\nHost: localhost:" + sys.argv[1].encode() + b"\\r\\nConnection: Upgrade\\r\\n"
                    b"Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
                data = b""
                while b"\\r\\n\\r\\n" not in data:
                    piece = client.recv(4096)
                    if not piece: break
                    data += piece
                print(data.split(b"\\r\\n")[0].decode())
                for word in (b"ping", b"pong"):
                    client.sendall(word)
                    got = b""
                    while len(got) < 4: got += client.recv(4 - len(got)) or sys.exit("closed")
                    print(got.decode())
                """
            try served.certificates.write(script, to: "client.py")
            let result = try RunningProcess.run(
                ["client.py", "\(served.port)"], of: "/usr/bin/python3", in: served.certificates.path)
            #expect(result.text.hasPrefix("HTTP/1.1 101 "), "\(result.text) \(result.errors)")
            #expect(result.text.hasSuffix("ping\npong\n"), "\(result.text) \(result.errors)")
        }
    }

    @Test(arguments: Front.allCases)
    func `an upload of 60 MB passes`(front: Front) throws {
        try ifInstalled(front) { served in
            let folder = try TemporaryFolder()
            let count = 60_000_000
            try folder.write([UInt8](repeating: 0x61, count: count), to: "large")
            let result = try RunningProcess.run(
                [
                    "curl", "-sS", "--max-time", "300", "--cacert", served.certificates.file("ca.pem"),
                    "--data-binary",
                    "@large", "-H", "Content-Type: application/octet-stream",
                    "https://localhost:\(served.port)/upload",
                ], of: "/usr/bin/env", in: folder.path)
            #expect(result.text == "\(count)", "\(result.text.prefix(300)) \(result.errors)")
        }
    }
}
