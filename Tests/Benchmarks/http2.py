"""What HTTP/2 costs beside nginx: small and large responses, with and without TLS, new connections, and idle ones.

h2load makes the loads. What counts is the processor time of the server, so that it does not matter how fast the client is."""

import re
import socket
import ssl
import statistics
import subprocess

import h2.config
import h2.connection
import h2.events

import history
import servers
import tls
from table import Row

# A few clients that ask for much at once, as in the tables of others; and many that ask for one thing after the other.
CONNECTIONS, STREAMS = 10, 100
SINGLE_CONNECTIONS = 64
IDLE_CONNECTIONS = 500
# The aims for the memory of one idle connection, in bytes.
IDLE_MOST = {"http": 24_000, "https": 40_000}


def rows(bench, origin):
    """All rows of this file."""
    small = history.small()
    origin.publish("small", small)
    # The proxy makes no dictionary from this type.
    origin.publish("256.bin", bytes(range(256)) * 1024)
    certificate = tls.certificate(bench.directory, "ECDSA P-256")
    rows = []
    for secure in [None, certificate]:
        kind = "over TLS 1.3" if secure else "without TLS"
        dictum = bench.start(servers.Dictum, origin, bench.binary, f"dictum-h2-{bool(secure)}", tls=secure)
        single = bench.start(servers.Dictum, origin, bench.binary, f"dictum-h2-single-{bool(secure)}", tls=secure, loops=1)
        # nginx takes HTTP/2 only on a plain port that says so, and both on a TLS port.
        nginx = bench.start(servers.NginxProxy, origin, tls=secure, http2=True)
        nginx1 = nginx if secure else bench.start(servers.NginxProxy, origin)
        rows += [
            *_small_rows(bench.loads, f"HTTP/2 {kind}, {len(small)} bytes of JSON", dictum, single, nginx, nginx1),
            _row(bench.loads, f"HTTP/2 {kind}, {len(small)} bytes of JSON, one stream on each of {SINGLE_CONNECTIONS} connections:"
                 " CPU a request", dictum, nginx, "/small", 1, 1.1, SINGLE_CONNECTIONS),
            _row(bench.loads, f"HTTP/2 {kind}, 256 KB of no text: CPU a request", dictum, nginx, "/256.bin", 10, 1.1),
        ]
        if secure:
            rows.append(_new_row(bench.loads, f"HTTP/2 {kind}: a new connection and one request", dictum, nginx))
        for server in {dictum, single, nginx, nginx1}:
            server.stop()
        rows.append(_idle_row(bench, origin, kind, secure))
    return rows


def _small_rows(loads, title, dictum, single, nginx, nginx1):
    """100 streams on each of 10 connections; the aim is the ratio that HTTP/1.1 has in the same run."""
    ours1, theirs1 = loads.by_turns([(dictum, "/small", {}), (nginx1, "/small", {})])
    aim = ours1.microseconds / theirs1.microseconds
    title = f"{title}, {STREAMS} streams on each of {CONNECTIONS} connections"
    ours, alone, theirs = _by_turns(loads, [dictum, single, nginx], "/small", STREAMS)
    return [
        Row(f"{title}: CPU a request", f"{ours:.1f} µs", f"{theirs:.1f} µs", "nginx", ours / theirs, "at most",
            round(aim, 2)),
        Row(f"{title}, one loop: CPU a request", f"{alone:.1f} µs", f"{theirs:.1f} µs", "nginx", alone / theirs,
            "at most", round(aim, 2)),
    ]


def _row(loads, title, dictum, nginx, path, streams, most, connections=CONNECTIONS):
    ours, theirs = _by_turns(loads, [dictum, nginx], path, streams, connections)
    return Row(title, f"{ours:.1f} µs", f"{theirs:.1f} µs", "nginx", ours / theirs, "at most", most)


def _new_row(loads, title, dictum, nginx):
    """Each connection makes one request."""
    samples = [[_load(server, "/small", ["-n300", "-c300", "-m1"]) for server in [dictum, nginx]]
               for _ in range(2 * loads.rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*samples))
    return Row(title, f"{ours:.0f} µs", f"{theirs:.0f} µs", "nginx", ours / theirs, "at most", 1.1)


def _by_turns(loads, targets, path, streams, connections=CONNECTIONS):
    """The medians of the processor time that each server takes for a request, in microseconds."""
    amount = [f"-c{connections}", f"-m{streams}"]
    for server in targets:
        _load(server, path, [*amount, "-D1"])
    # More and shorter turns: each has connections of its own, which the loops share otherwise.
    loads = loads.finer(2)
    samples = {server: [] for server in targets}
    for turn in range(loads.rounds):
        for server in targets if turn % 2 == 0 else targets[::-1]:
            samples[server].append(_load(server, path, [*amount, f"-D{loads.seconds}"]))
    return [statistics.median(samples[server]) for server in targets]


def _load(server, path, amount):
    """The processor time of a request in one load."""
    before = server.processor_seconds()
    # The largest windows, so that no server waits for the client's.
    output = subprocess.run(
        ["h2load", "-t1", "-w24", "-W28", *amount, f"{server.scheme}://127.0.0.1:{server.port}{path}"],
        check=True, capture_output=True, text=True).stdout
    used = server.processor_seconds() - before
    found = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored", output)
    protocol = re.search(r"(?:Application|No TLS) protocol: (\S+)|protocol: (h2c?)", output)
    if not found or int(found[1]) == 0 or int(found[2]) + int(found[3]) > 0:
        raise SystemExit(f"{server.name} failed under load:\n{output}")
    if protocol and "http/1" in protocol[0]:
        raise SystemExit(f"{server.name} did not choose HTTP/2")
    return used / int(found[1]) * 1e6


# MARK: Idle connections


def _idle_row(bench, origin, kind, secure):
    """Both servers are new, so that no connection uses memory that a load left behind."""
    dictum = bench.start(servers.Dictum, origin, bench.binary, f"dictum-h2-idle-{bool(secure)}", tls=secure)
    nginx = bench.start(servers.NginxProxy, origin, tls=secure, http2=True)
    ours, theirs = (_idle_bytes(server) for server in [dictum, nginx])
    most = IDLE_MOST[dictum.scheme]
    for server in [dictum, nginx]:
        server.stop()
    return Row(f"HTTP/2 {kind}, idle connections: memory of one", f"{ours / 1000:.1f} KB",
               f"{most / 1000:.0f} KB", f"the aim; nginx {theirs / 1000:.1f} KB", ours / most, "at most", 1)


def _idle_bytes(server):
    """The memory of a connection that has had one response."""
    # The first connections make the server allocate what all share.
    for connection in [_connected(server) for _ in range(20)]:
        connection.close()
    before = server.resident_bytes()
    connections = [_connected(server) for _ in range(IDLE_CONNECTIONS)]
    taken = server.resident_bytes() - before
    for connection in connections:
        connection.close()
    return taken / IDLE_CONNECTIONS


def _connected(server):
    """A connection on which one request was made."""
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    if server.certificate:
        context = ssl.create_default_context(cafile=server.certificate)
        context.set_alpn_protocols(["h2"])
        stream = context.wrap_socket(stream, server_hostname="localhost")
    state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    state.initiate_connection()
    state.send_headers(1, [(":method", "GET"), (":scheme", server.scheme), (":authority", "localhost"),
                           (":path", "/small")], end_stream=True)
    stream.sendall(state.data_to_send())
    while True:
        data = stream.recv(65536)
        if not data:
            raise SystemExit(f"{server.name} closed an HTTP/2 connection")
        events = state.receive_data(data)
        stream.sendall(state.data_to_send())
        if any(isinstance(event, h2.events.StreamEnded) for event in events):
            return stream
