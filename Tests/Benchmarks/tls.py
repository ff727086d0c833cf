"""What TLS costs: handshakes, small answers and large ones over kept connections, and connections that idle.

Both servers have the same certificate, the same OpenSSL and the same order of ciphers. What counts is the processor time
of the server, so that it does not matter how fast the clients are."""

import pathlib
import statistics
import subprocess
import sys

import history
import servers
from table import Row

HERE = pathlib.Path(__file__).resolve().parent
KEYS = {"ECDSA P-256": "ec -pkeyopt ec_paramgen_curve:P-256", "RSA 2048": "rsa:2048"}
CLIENTS = 3
IDLE_CONNECTIONS = 1000


def rows(bench, origin):
    """All rows of this file."""
    small, large = history.small(), bytes(range(256)) * 1000
    origin.publish("small", small)
    # The proxy makes no dictionary from this type.
    origin.publish("large.bin", large)
    paths = {"/small": f"{len(small)} bytes of JSON", "/large.bin": f"{len(large) // 1000} KB of no text"}
    rows = []
    for kind in KEYS:
        identity = certificate(bench.directory, kind)
        nginx = bench.start(servers.NginxProxy, origin, tls=identity)
        dictum = bench.start(servers.Dictum, origin, bench.binary, f"dictum-{identity.stem}", tls=identity)
        rows.append(_handshake_row(bench.loads, f"TLS 1.3, {kind}: new handshakes a core", "new", dictum, nginx))
        if kind == "ECDSA P-256":
            title = f"TLS 1.3, {kind}: resumed handshakes a core"
            rows += [_handshake_row(bench.loads, title, "resumed", dictum, nginx),
                     *_kept_rows(bench.loads, paths, dictum, nginx), _idle_row(dictum, nginx)]
        for server in [nginx, dictum]:
            server.stop()
    return rows


def certificate(directory, kind):
    """A certificate for localhost that signs itself; its key lies beside it."""
    file = directory / f"{kind.split()[0].lower()}.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *KEYS[kind].split(), "-nodes", "-keyout", file.with_suffix(".key"),
         "-out", file, "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True)
    return file


# MARK: Handshakes


def _handshake_row(loads, title, mode, dictum, nginx):
    for server in [dictum, nginx]:
        _microseconds(server, mode, 1)
    # Single rounds differ by 15 %, whichever server it is: three times as many as of other loads, and shorter.
    seconds = max(1, loads.seconds - 1)
    samples = [[_microseconds(server, mode, seconds) for server in [dictum, nginx]] for _ in range(3 * loads.rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*samples))
    return Row(title, f"{1e6 / ours:,.0f}", f"{1e6 / theirs:,.0f}", "nginx", theirs / ours, "at least", 0.9)


def _microseconds(server, mode, seconds):
    """The processor time of a handshake."""
    before = server.processor_seconds()
    clients = [_client(server, mode, seconds) for _ in range(CLIENTS)]
    counts = [client.communicate()[0] for client in clients]
    if any(client.returncode for client in clients):
        raise SystemExit(f"{server.name} failed in handshakes")
    return (server.processor_seconds() - before) / sum(map(int, counts)) * 1e6


def _client(server, mode, number):
    return subprocess.Popen(
        [sys.executable, str(HERE / "handshakes.py"), str(server.port), str(server.certificate), mode, str(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# MARK: Connections that are kept


def _kept_rows(loads, paths, dictum, nginx):
    rows = []
    for path, title in paths.items():
        ours, theirs = loads.by_turns([(dictum, path, {}), (nginx, path, {})])
        rows.append(Row(
            f"TLS 1.3, kept connections, {title}: CPU a request", f"{ours.microseconds:.1f} µs",
            f"{theirs.microseconds:.1f} µs", "nginx", ours.microseconds / theirs.microseconds, "at most", 1.1))
    return rows


def _idle_row(dictum, nginx):
    """What a connection takes that has had one answer."""
    ours, theirs = (_idle_bytes(server) for server in [dictum, nginx])
    return Row("TLS 1.3, idle connections: memory of one", f"{ours / 1000:.0f} KB", f"{theirs / 1000:.0f} KB", "nginx",
               ours / theirs)


def _idle_bytes(server):
    before = server.resident_bytes()
    client = _client(server, "idle", IDLE_CONNECTIONS)
    # It has said that all of them are there, and keeps them until its input ends.
    if client.stdout.readline() != f"{IDLE_CONNECTIONS}\n":
        raise SystemExit(f"{server.name} failed with idle connections")
    taken = server.resident_bytes() - before
    client.communicate()
    return taken / IDLE_CONNECTIONS
