internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// Proxies and caches in front of Dictum, configured as `deploy/FRONTS.md` says.
@Suite(.serialized, .timeLimit(.minutes(40))) struct FrontTests {
    /// An API behind Dictum behind a front that ends TLS.
    private final class Served {
        let certificates: TestCertificates
        let proxy: ServedProxy
        let origin: Origin
        let port: UInt16
        private let folder: TemporaryFolder
        private let front: Front
        private let process: RunningProcess

        init(_ front: Front, change: (String) throws -> String = { $0 }) throws {
            certificates = try TestCertificates()
            folder = try TemporaryFolder()
            let version = Guarded(0)
            origin = try Origin { request, connection in
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
                            "HTTP/1.1 200 OK", "Content-Type: application/json",
                            "Cache-Control: public, max-age=600",
                            body: Feed.bytes(version: number, items: 100)))
                }
            }
            proxy = try ServedProxy(origin, in: TemporaryFolder())
            port = try freePort()
            self.front = front
            process = try front.start(
                port: port, before: proxy.port, certificates, in: folder, change: change)
            // Some accept before they know their routes.
            let arguments = ["-sf", "--max-time", "60", "--cacert", certificates.file("ca.pem")]
            try waitUntil("\(front) knows its route") {
                let probe = try? RunningProcess.run(
                    ["curl"] + arguments + ["https://localhost:\(port)/upload"], of: "/usr/bin/env")
                return probe?.status == 0
            }
        }

        deinit {
            front.end(process)
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
        guard try front.program() != nil else { return }
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
                let isWhole = cache.read("body") == Feed.bytes(version: turn, items: 100)
                #expect(isWhole, "version \(turn)")
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

    @Test(arguments: Front.allCases)
    func `a client can claim no transport, host, port, prefix and address`(front: Front) throws {
        try ifInstalled(front) { served in
            let claims = [
                "X-Forwarded-Proto: http", "X-Forwarded-Host: evil.test",
                "Forwarded: for=198.51.100.7;host=evil.test;proto=http", "X-Forwarded-Port: 1",
                "X-Forwarded-Prefix: /evil", "X-Real-IP: 198.51.100.7",
            ]
            let authority = "localhost:\(served.port)"
            let result = try RunningProcess.run(
                ["curl", "-sS", "--max-time", "300", "--cacert", served.certificates.file("ca.pem")]
                    + claims.flatMap { ["-H", $0] } + ["-o", "/dev/null", "https://\(authority)/feed"],
                of: "/usr/bin/env")
            #expect(result.status == 0, "\(result.errors)")
            let received = try #require(served.origin.requests.last { $0.target == "/feed" })
            #expect(received["Host"] == authority)
            #expect(received["X-Forwarded-Proto"] == "https")
            #expect(received["X-Forwarded-Host"] == authority)
            #expect(received["Forwarded"] == nil && received["X-Forwarded-Prefix"] == nil)
            // Some fronts write these anew.
            #expect(["\(served.port)", nil].contains(received["X-Forwarded-Port"]))
            #expect(["127.0.0.1", "::1", nil].contains(received["X-Real-IP"]))
        }
    }

    // MARK: - Caches

    /// Returns the version that a client gets with these arguments, after the decoder and the digest have agreed on it.
    private func version(_ served: Served, _ arguments: [String]) throws -> (number: Int, coding: String) {
        let folder = try TemporaryFolder()
        let result = try RunningProcess.run(
            [
                "fetch", "https://localhost:\(served.port)/feed", "--ca", served.certificates.file("ca.pem"),
                "--json",
            ]
                + arguments + ["-o", "\(folder.path)/body"])
        try #require(result.status == 0, "\(result.errors)")
        let body = try #require(folder.read("body"))
        let number = try #require(
            (1...99).first { Feed.bytes(version: $0, items: 100) == body }, "no version of the feed")
        let coding = try #require(result.text.firstMatch(of: /"coding":"?([a-z]+)/)).output.1
        return (number, String(coding))
    }

    /// Lets clients with and without dictionaries share a cache, and returns what they got.
    ///
    /// The first holds version 1.
    private func share(_ served: Served) throws -> [String] {
        let holder = try TemporaryFolder()
        var seen: [String] = []
        func visit(_ name: String, _ arguments: [String]) throws {
            let folder = try TemporaryFolder()
            let cache = arguments.isEmpty ? ["--cache", holder.path] : ["--cache", folder.path] + arguments
            let (number, coding) = try version(served, cache)
            seen.append("\(name) \(number) \(coding)")
        }
        for _ in 1...3 { try visit("holder", []) }
        for coding in ["gzip", "br", "identity"] {
            for _ in 1...2 { try visit("other", ["--accept", coding]) }
        }
        try visit("holder", [])
        return seen
    }

    @Test func `the cache of nginx mixes no variants, and sends deltas to those that have the dictionary`()
        throws
    {
        guard try Front.nginx.program() != nil else { return }
        let blocks = try Documentation.blocks("nginx", of: "deploy/FRONTS.md", under: "## Caches")
        try #require(blocks.count == 2)
        for keepsDeltas in [true, false] {
            let folder = try TemporaryFolder()
            let served = try Served(.nginx) { text in
                try Front.replaced(
                    [
                        ("proxy_buffering off;", "proxy_buffering on; "),
                        ("/var/cache/nginx/dictum", "\(folder.path)/cache"),
                    ],
                    in: blocks[0] + (keepsDeltas ? "" : blocks[1]) + text)
            }
            let seen = try share(served)
            let deltas = keepsDeltas ? ["holder 2 dcz", "holder 2 dcz"] : ["holder 2 dcz", "holder 3 dcz"]
            #expect(Array(seen[..<3]) == ["holder 1 gzip"] + deltas, "\(seen)")
            #expect(
                seen[3] == seen[4] && seen[5] == seen[6] && seen[7] == seen[8], "nothing was cached: \(seen)")
            #expect(seen[3...8].allSatisfy { !$0.contains("dc") } && seen[9].hasSuffix("dcz"), "\(seen)")
        }
    }

    @Test func `the cache of HAProxy keeps no response that depends on a dictionary`() throws {
        guard try Front.haproxy.program() != nil else { return }
        let block = try Documentation.blocks("haproxy", of: "deploy/FRONTS.md", under: "## Caches")[0]
        let served = try Served(.haproxy) { text in
            try block
                + Front.replaced(
                    [
                        (
                            "    default_backend",
                            "    http-request cache-use small\n    http-response cache-store small\n    default_backend"
                        )
                    ],
                    in: text)
        }
        let seen = try share(served)
        #expect(seen.map { $0.split(separator: " ")[1] } == (1...10).map { "\($0)" }, "\(seen)")
    }
}
