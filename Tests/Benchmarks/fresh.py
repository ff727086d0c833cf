"""What a body costs that nobody has seen before, for clients that hold a version of it: the whole request."""

import loads
import servers
from table import Row

# The aim: at most this share of nginx's processor time for compressing the same body.
SHARE_MOST = 0.122


def rows(bench):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    gzip = bench.start(servers.NginxProxy, generator, 6)
    store = {"path": str(bench.directory / "fresh.sqlite")}
    routes = [{"match": "/fresh", "dictionary": {"delivery": "in_band"}}]
    dictum = bench.start(servers.Dictum, generator, bench.binary, "dictum-fresh", store, routes)
    _, held = loads.fetch(dictum, "/fresh", {"Accept-Encoding": "identity"})
    fields = {"Accept-Encoding": "dcz", **loads.advertising(held)}
    if loads.fetch(dictum, "/fresh", fields)[0] != "dcz":
        raise SystemExit(f"{dictum.name} does not use the version that it has offered")
    ours, theirs = bench.loads.by_turns(
        [(dictum, "/fresh", fields), (gzip, "/fresh", {"Accept-Encoding": "gzip"})])
    for server in [dictum, gzip, generator]:
        server.stop()
    return [Row(f"{len(held) / 1000:.0f} KB of JSON, new in every response, a version held: dcz, CPU a request",
                f"{ours.microseconds:.0f} µs", f"{theirs.microseconds:.0f} µs", "nginx gzip -6",
                ours.microseconds / theirs.microseconds, "at most", SHARE_MOST)]
