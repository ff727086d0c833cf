"""What probes with the digest of another's body tell, beside probes with one that nobody has: fields, sizes and times."""

import math
import random
import re
import secrets
import socket
import statistics
import time

import servers
from loads import advertising, fetch
from table import Row

PROBES = 3000
# The limit for the signed-rank sum, in standard deviations. Equal distributions exceed it once in 15,000 comparisons.
DEVIATIONS = 4


def rows(bench):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    dictum = bench.start(servers.Dictum, generator, bench.binary, "dictum-probes")
    given = {path: _give(dictum, path, fields) for path, fields in [
        ("/inbox", {"Authorization": "Bearer ann"}), ("/plain", {})]}
    rows = []
    for path, title in [("/inbox", "a personal body"), ("/plain", "a body that is not public")]:
        for identifier, how in [(None, "no id"), (lambda: secrets.token_urlsafe(16), "a guessed id")]:
            rows.append(_row(dictum, path, given[path], identifier, f"Probes with the digest of {title}, {how}"))
    _control(dictum, given["/inbox"])
    dictum.stop()
    return rows


def _control(dictum, known):
    """Fails unless a difference of a few microseconds would be seen: that of a field which is 2 KB longer."""
    lengths = {"short": "x", "long": "x" * 2000}
    pairs, _ = _pairs(dictum, "/inbox", lengths, lambda name: {"X-Length": lengths[name], **advertising(known)})
    if signed_ranks(pairs["long", "short"]) < DEVIATIONS:
        print("Probes: this machine is too busy to tell a longer request from a shorter one by its time")


def _give(dictum, path, fields):
    """Has somebody get a response often enough that it is established and in memory; returns its body."""
    for _ in range(5):
        body = fetch(dictum, path, {**fields, "Accept-Encoding": "dcz"})[1]
    return body


def _row(dictum, path, known, identifier, title):
    bodies = {"known": known, "unknown": known + b" "}
    pairs, answers = _pairs(dictum, path, bodies, lambda name: {
        **advertising(bodies[name]), **({"Dictionary-ID": f'"{identifier()}"'} if identifier else {})})
    if len(answers) != 1:
        raise SystemExit(f"{title}: the responses differ:\n" + "\n".join(repr(answer[:600]) for answer in answers))
    ours = pairs["known", "unknown"]
    score = signed_ranks(ours)
    medians = [statistics.median(column) * 1e6 for column in zip(*ours)]
    return Row(f"{title}: time, {score:+.1f} standard deviations", f"{medians[0]:.1f} µs", f"{medians[1]:.1f} µs",
               "an unknown digest", abs(score) / DEVIATIONS, "at most", 1)


def _pairs(dictum, path, names, fields):
    """The times of pairs of requests, and the responses that came; a pair is in either order."""
    times, answers = [], set()
    # Eve has a token of her own, and a response that she was never given.
    own = {"Authorization": "Bearer eve", "X-Prefix": "eve", "Accept-Encoding": "dcz, dcb, gzip"}
    with socket.create_connection(("127.0.0.1", dictum.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(PROBES + 100):
            pair = {}
            for name in random.sample(list(names), 2):
                pair[name], answer = _ask(connection, dictum.port, path, {**own, **fields(name)})
                if number >= 100:
                    answers.add(answer)
            if number >= 100:
                times.append(pair)
    first, second = names
    return {order: [tuple(pair[name] for name in order) for pair in times]
            for order in [(first, second), (second, first)]}, answers


def _ask(connection, port, path, fields):
    """How long a response takes, and what it is but for its date."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode()
    began = time.perf_counter()
    connection.sendall(request)
    answer = connection.recv(1 << 16)
    seconds = time.perf_counter() - began
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1 << 16)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head).group(1))
    while len(body) < length:
        body += connection.recv(1 << 16)
    # The date, and the number of the request, differ in any case.
    head = re.sub(rb"(?i)\r\n(date|x-request-id): [^\r]*", b"", head)
    return seconds, head + b"\r\n\r\n" + body


def signed_ranks(pairs):
    """The signed ranks of Wilcoxon in standard deviations; positive where the first of a pair is larger.

    Of pairs, since what else the machine does makes both of a pair longer: beside that a rank sum of all sees little."""
    differences = sorted((one - other for one, other in pairs if one != other), key=abs)
    count = len(differences)
    if not count:
        return 0
    positive = sum(rank for rank, difference in enumerate(differences, 1) if difference > 0)
    mean = count * (count + 1) / 4
    return (positive - mean) / math.sqrt(mean * (2 * count + 1) / 6)
