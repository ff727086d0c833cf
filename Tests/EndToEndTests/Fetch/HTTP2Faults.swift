internal import Foundation
internal import TestSupport
internal import Testing

/// A server in Python that speaks HTTP/2 without TLS, by the library h2, and misbehaves as the path says.
///
/// It prints a line for each connection.
final class HTTP2Faults {
    let process: RunningProcess
    private let port: UInt16
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Array(Self.script.utf8), to: "server.py")
        process = try RunningProcess(["-u", "server.py"], of: "/usr/bin/python3", in: folder.path)
        let said = try process.waitFor("port ")
        let match = try #require(said.firstMatch(of: /port ([0-9]+)/))
        port = try #require(UInt16(match.output.1))
    }

    deinit { process.stop() }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The number of connections so far; ends the server.
    func connections() throws -> Int {
        process.stop()
        return try process.result().text.components(separatedBy: "connection\n").count - 1
    }

    private static let script = #"""
        import socket, threading, time
        import h2.config, h2.connection, h2.events
        from hyperframe.frame import DataFrame, HeadersFrame, PushPromiseFrame

        BODY = b"0123456789" * 10
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(f"port {listener.getsockname()[1]}")

        class Connection:
            def __init__(self, socket):
                config = h2.config.H2Configuration(client_side=False, validate_outbound_headers=False,
                                                   normalize_outbound_headers=False, header_encoding="utf-8")
                self.socket, self.h2, self.isOpen = socket, h2.connection.H2Connection(config), True

            def flush(self):
                self.socket.sendall(self.h2.data_to_send())

            def head(self, stream, *fields, status="200", end=False):
                first = [(":status", status)] if status else []
                self.h2.send_headers(stream, first + list(fields), end_stream=end)

            # The library sends no such heads itself.
            def raw_head(self, stream, *fields, flags=["END_HEADERS"]):
                self.flush()
                frame = HeadersFrame(stream, self.h2.encoder.encode(fields), flags=flags)
                self.socket.sendall(frame.serialize())

            def close(self):
                self.flush()
                self.isOpen = False
                self.socket.shutdown(socket.SHUT_RDWR)

            def respond(self, stream, path):
                name = path.strip("/").replace("-", "_")
                getattr(self, "on_" + name)(stream)
                if self.isOpen:
                    self.flush()

            def on_ok(self, stream):
                self.head(stream, ("content-length", "100"))
                self.h2.send_data(stream, BODY, end_stream=True)

            def on_goaway(self, stream):
                self.h2.close_connection(error_code=11, last_stream_id=0)

            def on_goaway_and_noise(self, stream):
                self.h2.close_connection(error_code=11, last_stream_id=stream)
                self.flush()
                self.on_noise(stream)

            def on_goaway_unseen(self, stream):
                self.h2.close_connection(error_code=0, last_stream_id=0)

            def on_goaway_and_close(self, stream):
                self.h2.close_connection(error_code=0, last_stream_id=stream)
                self.close()

            def on_goaway_in_body(self, stream):
                self.head(stream, ("content-length", "100"))
                self.h2.send_data(stream, BODY[:50])
                self.h2.close_connection(error_code=2, last_stream_id=stream)
                self.close()

            def on_refused(self, stream):
                self.h2.reset_stream(stream, error_code=7)

            def on_only_http1(self, stream):
                self.h2.reset_stream(stream, error_code=13)

            def on_reset_in_body(self, stream):
                self.head(stream, ("content-length", "100"))
                self.h2.send_data(stream, BODY[:50])
                self.h2.reset_stream(stream, error_code=2)

            def on_reset_without_length(self, stream):
                self.head(stream)
                self.h2.send_data(stream, BODY[:50])
                self.h2.reset_stream(stream, error_code=0)

            def on_cut(self, stream):
                self.head(stream)
                self.h2.send_data(stream, BODY[:50])
                self.close()

            def on_too_much(self, stream):
                self.head(stream, ("content-length", "50"))
                self.h2.send_data(stream, BODY, end_stream=True)

            def on_too_little(self, stream):
                self.head(stream, ("content-length", "100"))
                self.h2.send_data(stream, BODY[:50], end_stream=True)

            def on_nothing_of_length(self, stream):
                self.head(stream, ("content-length", "100"), end=True)

            def on_two_lengths(self, stream):
                self.head(stream, ("content-length", "100"), ("content-length", "50"))
                self.h2.send_data(stream, BODY, end_stream=True)

            def on_huge(self, stream):
                self.head(stream, ("content-length", "999999999999"))

            def on_no_status(self, stream):
                self.head(stream, ("x-own", "1"), status=None)
                self.h2.send_data(stream, BODY, end_stream=True)

            def on_late_status(self, stream):
                self.head(stream, ("x-own", "1"), (":status", "200"), status=None, end=True)

            def on_switching(self, stream):
                self.raw_head(stream, (":status", "101"))

            def on_upper(self, stream):
                self.head(stream, ("X-Own", "1"), end=True)

            def on_connection_field(self, stream):
                self.head(stream, ("connection", "close"), end=True)

            def on_big_head(self, stream):
                self.head(stream, *[(f"x-{n}", "v" * 1000) for n in range(40)], end=True)

            def on_many_fields(self, stream):
                self.head(stream, *[(f"x-{n}", "") for n in range(300)], end=True)

            def on_many_interim(self, stream):
                for _ in range(40):
                    self.head(stream, status="103")

            def on_endless_interim(self, stream):
                self.raw_head(stream, (":status", "103"), flags=["END_HEADERS", "END_STREAM"])

            def on_push(self, stream):
                # The client's SETTINGS forbid it, and are acknowledged.
                self.flush()
                frame = PushPromiseFrame(stream, promised_stream_id=2, flags=["END_HEADERS"])
                frame.data = b"\x82\x84\x86"
                self.socket.sendall(frame.serialize())

            def on_data_for_all(self, stream):
                frame = DataFrame(stream, data=b"x").serialize()
                self.socket.sendall(frame[:5] + bytes(4) + frame[9:])

            def on_noise(self, stream):
                self.socket.sendall(b"\xff" * 4096)

            # Before the acknowledgement a push is allowed, but of no use.
            def on_early_push(self, stream):
                frame = PushPromiseFrame(stream, promised_stream_id=2, flags=["END_HEADERS"])
                frame.data = self.h2.encoder.encode(
                    [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/"), ("x-promised", "1")])
                self.socket.sendall(frame.serialize())
                for number, fields in ((2, [(":status", "404"), ("x-pushed", "1")]), (stream, [(":status", "200")])):
                    self.socket.sendall(HeadersFrame(number, self.h2.encoder.encode(fields),
                                                     flags=["END_HEADERS"]).serialize())
                for number, body in ((2, b"pushed"), (stream, BODY)):
                    self.socket.sendall(DataFrame(number, data=body, flags=["END_STREAM"]).serialize())

            # The body never comes, as from a server whose window stays 0; other frames do.
            def on_stalled(self, stream):
                self.head(stream, ("content-length", "100"))
                self.flush()
                for _ in range(200):
                    self.h2.ping(b"12345678")
                    self.flush()
                    time.sleep(0.05)

            def on_silent(self, stream):
                self.h2.update_settings({4: 0, 3: 0})

            # A page and its dictionary.
            def on_page(self, stream):
                self.head(stream, ("link", '</dictionary>; rel="compression-dictionary"'))
                self.h2.send_data(stream, BODY, end_stream=True)

            def on_last_page(self, stream):
                self.on_page(stream)
                self.h2.close_connection(error_code=0, last_stream_id=stream)

            def on_dictionary(self, stream):
                self.head(stream, ("use-as-dictionary", 'match="/*page"'), ("cache-control", "max-age=60"))
                self.h2.send_data(stream, BODY, end_stream=True)

        def serve(socket):
            print("connection")
            connection = Connection(socket)
            connection.h2.initiate_connection()
            connection.flush()
            while connection.isOpen:
                data = socket.recv(65536)
                if not data:
                    break
                for event in connection.h2.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        path = dict(event.headers)[":path"]
                        connection.respond(event.stream_id, path)
                if connection.isOpen:
                    connection.flush()
            socket.close()

        def tried(socket):
            try:
                serve(socket)
            except (OSError, h2.exceptions.ProtocolError):
                pass

        while True:
            threading.Thread(target=tried, args=(listener.accept()[0],), daemon=True).start()
        """#
}
