internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// HTTP/2 clients that are not ours: curl, nghttp, h2load and Python's h2.
@Suite(.timeLimit(.minutes(40))) struct HTTP2ClientTests {
    /// Made once: an origin that made it for each request would let a busy machine exceed the time-outs.
    private static let large = Noise.bytes(20_000_000, seed: 3)
    private static let feeds = (0..<4).map { Feed.bytes(version: $0, items: 300) }

    /// Serves one version of the feed after the other, sends uploads back, and has large bodies.
    private func served(_ settings: String = "routes: [{match: /feed}]") throws -> SecureClient {
        let turn = Turn()
        let origin = try Origin { request, connection in
            let head = [
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
            ]
            let body =
                switch (request.method, request.target) {
                case ("GET", "/feed"): Self.feeds[turn.next() % Self.feeds.count]
                case ("GET", "/large"): Self.large
                case ("GET", _): Self.feeds[0]
                default: request.body
                }
            connection.send(wire(head.joined(separator: "\r\n"), body: body))
        }
        let certificates = try TestCertificates()
        let proxy = try ServedProxy(
            origin, in: TemporaryFolder(), settings, listener: certificates.settings("server"))
        return SecureClient(proxy: proxy, certificates: certificates)
    }

    @Test func `curl gets a delta from the second fetch on, which foreign decoders make exact`() throws {
        let client = try served()
        var judged: [ForeignJudge.Answer] = []
        let held = try client.curl("/feed", "--http2", "-H", "Accept-Encoding: dcz, dcb")
        #expect(held.head.startLine.hasPrefix("HTTP/2 200"))
        #expect(held.body == Self.feeds[0])
        let dictionary = Self.feeds[0]
        let offer = try #require(held.head["use-as-dictionary"].flatMap { UseAsDictionary.parse([$0]) })
        for (number, coding) in ["dcz", "dcb", "dcz"].enumerated() {
            var fields = [
                "Accept-Encoding: \(coding)", "Available-Dictionary: :\(Digest(of: dictionary.span).base64):",
            ]
            if !offer.id.isEmpty { fields.append("Dictionary-ID: \"\(offer.id)\"") }
            let next = try client.proxy.curl(
                "/feed",
                arguments: ["--cacert", client.certificates.file("ca.pem"), "--http2"]
                    + fields.flatMap { ["-H", $0] })
            #expect(next.head["content-encoding"] == coding)
            #expect(next.body.count < Self.feeds[number + 1].count / 4)
            judged.append(
                .init(
                    name: "fetch \(number + 2)", coding: coding, dictionary: dictionary, wire: next.body,
                    body: Self.feeds[number + 1]))
        }
        #expect(try ForeignJudge().faults(of: judged) == [])
    }

    @Test func `curl uploads and downloads megabytes`() throws {
        let client = try served()
        let large = Self.large
        try client.proxy.folder.write(large, to: "upload")
        #expect(try client.curl("/large", "--http2").carries(large))
        #expect(try client.curl("/up", "--http2", "--data-binary", "@upload").carries(large))
        #expect(try client.curl("/up", "--http2", "-T", "upload").carries(large))
    }

    @Test func `curl speaks HTTP/2 without TLS, and HTTP/1.1 on the same listener`() throws {
        let origin = try Origin(wire("HTTP/1.1 200 OK", body: Self.feeds[0]))
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let two = try proxy.curl("/feed", "--http2-prior-knowledge")
        #expect(two.carries(Self.feeds[0]))
        #expect(two.head.startLine.hasPrefix("HTTP/2 200"))
        let one = try proxy.curl("/feed")
        #expect(one.carries(Self.feeds[0]))
        #expect(one.head.startLine.hasPrefix("HTTP/1.1 200"))
        #expect(origin.requests.map { $0["Via"]?.prefix(3) } == ["2.0", "1.1"])
        // RFC 9113 section 3.1: the upgrade of HTTP/1.1 is obsolete, and its client goes on in HTTP/1.1.
        let upgraded = try proxy.curl("/feed", "--http2")
        #expect(upgraded.carries(Self.feeds[0]))
        #expect(upgraded.head.startLine.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `nghttp gets many resources, and uploads with trailers`() throws {
        let client = try served()
        let url = client.proxy.url("/one")
        let got = try RunningProcess.run(["nghttp", "--no-verify-peer", url], of: "/usr/bin/env")
        #expect(got.output == Self.feeds[0])
        try client.proxy.folder.write(Self.feeds[1], to: "upload")
        let sent = try RunningProcess.run(
            [
                "nghttp", "--no-verify-peer", "--trailer", "x-sum: 7", "-d",
                "\(client.proxy.folder.path)/upload",
                client.proxy.url("/up"),
            ], of: "/usr/bin/env")
        #expect(sent.output == Self.feeds[1])
        let many = try RunningProcess.run(
            ["nghttp", "--no-verify-peer", "-n", "-s", "-m", "90", url], of: "/usr/bin/env")
        #expect(many.text.split(separator: "\n").count { $0.contains(" 200 ") } == 90)
    }

    @Test(arguments: [1, 100]) func `h2load has every request succeed`(streams: Int) throws {
        let client = try served()
        let result = try RunningProcess.run(
            ["h2load", "-n", "3000", "-c", "5", "-m", "\(streams)", client.proxy.url("/one")],
            of: "/usr/bin/env")
        #expect(result.text.contains("3000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(result.text)")
        #expect(result.text.contains("3000 2xx"))
        #expect(
            try client.proxy.metric("dictum_requests_by_protocol_total", where: "HTTP/2.0") == 3000)
    }

    @Test func `Python's h2 finds no fault in a hundred streams at once`() throws {
        let client = try served()
        let result = try client.python(Self.script)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("good 100"), "\(result.text) \(result.errors)")
    }

    @Test func `a drain tells clients in two steps, and no request is lost`() throws {
        let gate = Gate()
        let body = Feed.bytes(version: 0, items: 100)
        let origin = try Origin { request, connection in
            if request.target == "/slow" { gate.wait() }
            connection.send(wire("HTTP/1.1 200 OK", "Content-Type: application/json", body: body))
        }
        let proxy = try ServedProxy(origin, in: TemporaryFolder())
        let peer = try HTTP2Peer(port: proxy.port)
        peer.request(1, "/slow")
        try waitUntil("the upstream has the request") { !origin.requests.isEmpty }
        proxy.process.signal(SIGTERM)
        let notice = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(notice.payload.prefix(4) == [0x7f, 0xff, 0xff, 0xff])
        peer.request(3, "/late")
        #expect(peer.response(3)?.body == body, "a request on its way is served")
        let last = try #require(peer.readFrame { $0.type == HTTP2Peer.Kind.goAway })
        #expect(last.payload.prefix(4) == [0, 0, 0, 3])
        gate.open()
        #expect(peer.response(1)?.body == body)
        #expect(peer.endingCode() == 0)
        #expect(try proxy.process.result().status == 0)
    }

    /// Asks for a hundred resources on one connection, with windows of 64 KiB, and uploads beside them.
    private static let script = """
        import hashlib, socket, ssl, sys
        import h2.config, h2.connection, h2.events
        context = ssl.create_default_context(cafile="ca.pem")
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=120)
        tls = context.wrap_socket(plain, server_hostname="127.0.0.1")
        assert tls.selected_alpn_protocol() == "h2"
        connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        connection.initiate_connection()
        upload = bytes(range(256)) * 4000
        waiting, bodies, status = {}, {}, {}
        for number in range(100):
            stream = connection.get_next_available_stream_id()
            bodies[stream] = b""
            fields = [(":authority", "api.test"), (":scheme", "https")]
            if number % 10:
                connection.send_headers(stream, [(":method", "GET"), (":path", "/one")] + fields, end_stream=True)
            else:
                connection.send_headers(stream, [(":method", "POST"), (":path", "/up")] + fields)
                waiting[stream] = upload
        uploads = set(waiting)
        def push():
            for stream in list(waiting):
                while waiting[stream]:
                    room = min(connection.local_flow_control_window(stream), connection.max_outbound_frame_size)
                    if room <= 0:
                        break
                    connection.send_data(stream, waiting[stream][:room])
                    waiting[stream] = waiting[stream][room:]
                if not waiting[stream]:
                    connection.end_stream(stream)
                    del waiting[stream]
        push()
        tls.sendall(connection.data_to_send())
        ended = 0
        while ended < 100:
            data = tls.recv(65536)
            assert data, "the connection has ended"
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    status[event.stream_id] = dict(event.headers)[":status"]
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    ended += 1
                elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                    raise SystemExit(f"{event}")
            push()
            tls.sendall(connection.data_to_send())
        one = {hashlib.sha256(body).digest() for stream, body in bodies.items() if stream not in uploads}
        good = all(bodies[stream] == upload for stream in uploads) and len(one) == 1
        print("good" if good else "bad", sum(value == "200" for value in status.values()))
        """
}

/// Numbers from 0 on, one each.
private final class Turn: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
