#!/usr/bin/env python3
"""A client of `tls.py`: PORT CERTIFICATE MODE NUMBER; prints how many connections it has had.

`new` and `resumed` make handshakes for so many seconds, one after the other; `idle` makes so many connections, has an
answer on each, and keeps them until its input ends."""

import socket
import ssl
import sys
import time

GET = b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n"


def main():
    port, certificate, mode, number = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    context = ssl.create_default_context(cafile=certificate)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if mode == "idle":
        connections = [asked(port, context) for _ in range(number)]
        print(len(connections), flush=True)
        sys.stdin.read()
        return
    session = None
    if mode == "resumed":
        with asked(port, context) as tls:
            session = tls.session
    count, end = 0, time.monotonic() + number
    while time.monotonic() < end:
        shake_hands(port, context, session)
        count += 1
    print(count)


def asked(port, context):
    """A connection that has had an answer."""
    tls = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=30), server_hostname="localhost")
    tls.sendall(GET)
    if not tls.recv(65536).startswith(b"HTTP/1.1 200"):
        raise SystemExit("no answer")
    return tls


def shake_hands(port, context, session):
    """Connects, and ends the connection once the handshake is whole on the other side, too."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
        tls = context.wrap_socket(plain, server_hostname="localhost", session=session)
        if tls.session_reused != (session is not None):
            raise SystemExit("resumed, or not, against expectation")
        # From here on bytes are read as they are on the wire: tickets, and the end.
        tls.shutdown(socket.SHUT_WR)
        while tls.recv(65536):
            pass
        tls.close()


main()
