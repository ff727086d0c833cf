"""HTTP servers on loopback that write down each exchange: one that a test scripts, and one that relays to Dictum."""

import dataclasses
import http.client
import http.server
import threading


@dataclasses.dataclass
class Exchange:
    path: str
    request: http.client.HTTPMessage
    status: int
    fields: dict
    body: bytes

    @property
    def advertised(self):
        return self.request["Available-Dictionary"]

    @property
    def coding(self):
        return self.fields.get("Content-Encoding", "identity")


class Server:
    """Answers GET by `answer(path, request)`, which returns status, fields and body; closes each connection after that.

    A field with a list as its value has several lines."""

    def __init__(self, answer, address="127.0.0.1"):
        self.exchanges = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, fields, body = answer(self.path, self.headers)
                outer.exchanges.append(Exchange(self.path, self.headers, status, dict(fields), body))
                self.send_response_only(status)
                for name, value in fields.items():
                    for line in value if isinstance(value, list) else [value]:
                        self.send_header(name, line)
                self.send_header("Connection", "close")
                if status != 304:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://{address}:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self):
        """The exchanges since the last call."""
        taken, self.exchanges = self.exchanges, []
        return taken

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Relay(Server):
    """Passes requests on to a port, and responses back; `spoils` has what changes the next delta of a path on its way."""

    def __init__(self, port):
        self.port_behind = port
        self.spoils = {}
        super().__init__(self.forward)

    def forward(self, path, request):
        connection = http.client.HTTPConnection("127.0.0.1", self.port_behind, timeout=30)
        try:
            connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.items():
                if name.lower() != "connection":
                    connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        fields = {name: value for name, value in response.getheaders()
                  if name.lower() not in ["connection", "content-length", "transfer-encoding"]}
        if path in self.spoils and response.headers["Content-Encoding"] == "dcz":
            body = self.spoils.pop(path)(body)
        return response.status, fields, body
