internal import Foundation
internal import TestSupport
internal import Testing

/// A foreign client of HTTP/3: aioquic, from PyPI.
struct HTTP3Client {
    /// A response as it came over QUIC.
    struct Response: Decodable {
        let status: Int
        let fields: [[String]]
        /// The body in base64.
        private let content: String

        var body: [UInt8] { Data(base64Encoded: content).map { [UInt8]($0) } ?? [] }

        subscript(name: String) -> String? { fields.first { $0[0] == name }?[1] }
    }

    private static let script = #"""
        import asyncio, base64, json, sys
        from aioquic.asyncio.client import connect
        from aioquic.asyncio.protocol import QuicConnectionProtocol
        from aioquic.h3.connection import H3Connection
        from aioquic.h3.events import DataReceived, HeadersReceived
        from aioquic.quic.configuration import QuicConfiguration

        class Client(QuicConnectionProtocol):
            def __init__(self, *arguments, **named):
                super().__init__(*arguments, **named)
                self.http, self.streams = H3Connection(self._quic), {}

            def quic_event_received(self, event):
                for part in self.http.handle_event(event):
                    if not isinstance(part, (HeadersReceived, DataReceived)): continue
                    stream = self.streams[part.stream_id]
                    if isinstance(part, DataReceived): stream["body"] += part.data
                    elif not stream["head"]: stream["head"] = [[name.decode(), value.decode()] for name, value in part.headers]
                    if part.stream_ended: stream["done"].set_result(None)

            async def get(self, authority, path, fields):
                number = self._quic.get_next_available_stream_id()
                stream = self.streams[number] = {"head": [], "body": b"", "done": asyncio.get_running_loop().create_future()}
                head = [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", path)]
                head += [tuple(field.split(": ", 1)) for field in fields]
                self.http.send_headers(number, [(name.lower().encode(), value.encode()) for name, value in head], end_stream=True)
                self.transmit()
                await asyncio.wait_for(stream["done"], 60)
                fields = stream["head"]
                return {"status": int(fields[0][1]), "fields": fields, "content": base64.b64encode(stream["body"]).decode()}

        async def main():
            port, authority, request = sys.argv[1:]
            settings = QuicConfiguration(is_client=True, alpn_protocols=["h3"], server_name="localhost", cafile="ca.pem")
            async with connect("127.0.0.1", int(port), configuration=settings, create_protocol=Client) as client:
                await asyncio.wait_for(client.wait_connected(), 60)
                path, *fields = request.split("\n")
                print(json.dumps(await client.get(authority, path, fields)))

        asyncio.run(main())
        """#

    private let python: String
    private let certificates: TestCertificates

    /// Makes a client that trusts the authority of the certificates; nil if PyPI is out of reach.
    init?(trusting certificates: TestCertificates) throws {
        guard let python = try PythonEnvironment.python("http3", with: ["aioquic==1.7.2"]) else { return nil }
        self.python = python
        self.certificates = certificates
        try certificates.write(Self.script, to: "http3.py")
    }

    /// Fetches a path at a port, with these fields.
    func get(_ path: String, at port: UInt16, authority: String, _ fields: String...) throws -> Response {
        let request = ([path] + fields).joined(separator: "\n")
        let result = try RunningProcess.run(
            ["http3.py", "\(port)", authority, request], of: python, in: certificates.path)
        let response = try? JSONDecoder().decode(Response.self, from: Data(result.output))
        return try #require(response, "\(result.text.prefix(300)) \(result.errors.suffix(600))")
    }
}
