"""An API whose body changes with every request, at the port that the argument names."""

import http.server
import json
import sys

versions = iter(range(1_000_000))


class Feed(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        items = [{"id": number, "text": f"item {number * 7919 % 1000}"} for number in range(500)]
        body = json.dumps({"version": next(versions), "items": items}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Feed).serve_forever()
