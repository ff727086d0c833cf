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
# Of a rank sum in standard deviations: where nothing differs, once in 15,000 comparisons it is more.
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
    dictum.stop()
    return rows


def _give(dictum, path, fields):
    """Has somebody get a response often enough that it is established and in memory; returns its body."""
    for _ in range(5):
        body = fetch(dictum, path, {**fields, "Accept-Encoding": "dcz"})[1]
    return body


def _row(dictum, path, known, identifier, title):
    unknown = known + b" "
    times, answers = {known: [], unknown: []}, set()
    # Eve has a token of her own, and a response that she was never given.
    own = {"Authorization": "Bearer eve", "X-Prefix": "eve", "Accept-Encoding": "dcz, dcb, gzip"}
    with socket.create_connection(("127.0.0.1", dictum.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(PROBES + 100):
            # A pair each, in either order: whatever else the machine does is the same for both.
            for body in random.sample([known, unknown], 2):
                fields = {**own, **advertising(body), **({"Dictionary-ID": f'"{identifier()}"'} if identifier else {})}
                seconds, answer = _ask(connection, dictum.port, path, fields)
                if number >= 100:
                    times[body].append(seconds)
                    answers.add(answer)
    if len(answers) != 1:
        raise SystemExit(f"{title}: the responses differ:\n" + "\n".join(repr(answer[:600]) for answer in answers))
    score = rank_sum(times[known], times[unknown])
    medians = [statistics.median(times[body]) * 1e6 for body in (known, unknown)]
    return Row(f"{title}: time, rank sum {score:+.1f} deviations", f"{medians[0]:.1f} µs", f"{medians[1]:.1f} µs",
               "an unknown digest", abs(score) / DEVIATIONS, "at most", 1)


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


def rank_sum(ours, theirs):
    """The rank sum of Mann and Whitney in standard deviations; positive where ours are larger."""
    ranks, position = {}, 0
    values = sorted(ours + theirs)
    while position < len(values):
        end = position
        while end < len(values) and values[end] == values[position]:
            end += 1
        ranks[values[position]] = (position + 1 + end) / 2
        position = end
    count, other = len(ours), len(theirs)
    mean = count * (count + other + 1) / 2
    return (sum(ranks[value] for value in ours) - mean) / math.sqrt(mean * other / 6)
