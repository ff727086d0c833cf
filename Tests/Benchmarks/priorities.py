"""What an urgent page gains beside a download on a slow link (RFC 9218): the bytes of the download that come before its end.

Bytes, because they repeat: the client reads 10 Mbit/s with a small buffer, and both bodies go over one connection."""

import os
import socket
import ssl
import time

import servers
import tls
from table import Row

PAGE_BYTES = 100_000
DOWNLOAD_BYTES = 20_000_000
BYTES_PER_SECOND = 1_250_000
RECEIVE_BYTES = 16 * 1024
WINDOW = 1 << 30
DATA, HEADERS, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 7, 8
END_STREAM = 1


def rows(bench, origin):
    """All rows of this file."""
    origin.publish("download.bin", os.urandom(DOWNLOAD_BYTES))
    origin.publish("page.bin", os.urandom(PAGE_BYTES))
    rows = []
    for secure in [None, tls.certificate(bench.directory, "ECDSA P-256")]:
        dictum = bench.start(servers.Dictum, origin, bench.binary, f"dictum-priorities-{bool(secure)}", tls=secure)
        urgent = _overtaken(dictum, "u=1")
        even = _overtaken(dictum, "u=3, i")
        dictum.stop()
        kind = "over TLS 1.3" if secure else "without TLS"
        rows.append(Row(
            f"HTTP/2 {kind}, 100 KB beside a download at 10 Mbit/s: bytes of the download before their end",
            f"{urgent / 1000:.0f} KB", f"{even / 1000:.0f} KB", "in turns", urgent / even, "at most", 0.6))
    return rows


def _overtaken(server, priority):
    """The bytes of the download that come between the request for the page and its end."""
    client = _Client(server)
    client.request(1, "/download.bin", "u=3, i")
    client.read_until(lambda: client.received[1] > 2_000_000)
    before = client.received[1]
    client.request(3, "/page.bin", priority)
    client.read_until(lambda: 3 in client.ended)
    if client.received[3] != PAGE_BYTES:
        raise SystemExit(f"{server.name} sent {client.received[3]} bytes of a page of {PAGE_BYTES}")
    client.connection.close()
    return client.received[1] - before


class _Client:
    """A client that reads at a pace, with open windows."""

    def __init__(self, server):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        raw.settimeout(60)
        raw.connect(("127.0.0.1", server.port))
        self.connection = raw
        if server.certificate:
            context = ssl.create_default_context(cafile=server.certificate)
            context.check_hostname = False
            context.set_alpn_protocols(["h2"])
            self.connection = context.wrap_socket(raw)
        self.unread, self.taken, self.began = b"", 0, time.monotonic()
        self.received, self.ended = {1: 0, 3: 0}, set()
        self.connection.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            + _frame(SETTINGS, 0, 0, (4).to_bytes(2, "big") + WINDOW.to_bytes(4, "big"))
            + _frame(WINDOW_UPDATE, 0, 0, WINDOW.to_bytes(4, "big")))

    def request(self, stream, path, priority):
        fields = {":method": "GET", ":scheme": "http", ":authority": "localhost", ":path": path, "priority": priority}
        # Literals of HPACK without indexing (RFC 7541 section 6.2.2).
        block = b"".join(
            b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in field) for field in fields.items())
        self.connection.sendall(_frame(HEADERS, 5, stream, block))

    def read_until(self, is_done):
        while not is_done():
            wait = (self.taken + 1500) / BYTES_PER_SECOND - (time.monotonic() - self.began)
            if wait > 0:
                time.sleep(wait)
            piece = self.connection.recv(4096)
            if not piece:
                raise SystemExit("the connection has ended before the responses")
            self.taken += len(piece)
            self.unread += piece
            self._note_frames()

    def _note_frames(self):
        while len(self.unread) >= 9:
            count = int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < 9 + count:
                return
            kind, flags = self.unread[3], self.unread[4]
            stream = int.from_bytes(self.unread[5:9], "big")
            self.unread = self.unread[9 + count:]
            if kind == GOAWAY:
                raise SystemExit("the server has ended the connection")
            if kind == DATA:
                self.received[stream] += count
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                self.ended.add(stream)


def _frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
