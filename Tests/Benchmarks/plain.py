"""What clients without a dictionary get, and what it costs: against gzip -6 by nginx, which ours must never be worse than."""

import pathlib

from loads import fetch
from table import Row

BODIES = pathlib.Path(__file__).resolve().parent.parent / "Corpora/Responses"
# One body for each class of lengths that has its own level; see `CodingLevels`.
LOADED = ["page.json", "products.json", "table.json", "browsable.html", "table.html"]
CLIENTS = ["gzip", "gzip, br", "gzip, br, zstd"]


def rows(bench, origin, gzip, dictum):
    """All rows of this file."""
    bodies = sorted(BODIES.iterdir(), key=lambda path: path.stat().st_size)
    for path in bodies:
        origin.publish(path.name, path.read_bytes())
    return [_bytes_row(bodies, gzip, dictum, accept) for accept in CLIENTS] + [
        row for path in bodies if path.name in LOADED for row in _cpu_rows(bench, path, gzip, dictum)]


def _bytes_row(bodies, gzip, dictum, accept):
    """The bytes of all bodies, and the worst ratio of one."""
    ours = [len(fetch(dictum, f"/{path.name}", {"Accept-Encoding": accept})[1]) for path in bodies]
    theirs = [len(fetch(gzip, f"/{path.name}", {"Accept-Encoding": "gzip"})[1]) for path in bodies]
    worst = max(one / other for one, other in zip(ours, theirs))
    # Another library than zlib may differ by a hundredth where both send gzip.
    return Row(f"{len(bodies)} responses to clients of {accept}: bytes, worst ratio", f"{sum(ours):,}",
               f"{sum(theirs):,}", "nginx gzip -6", worst, "at most", 1.01)


def _cpu_rows(bench, path, gzip, dictum):
    """The processor time of a response, forwarding included."""
    target = f"/{path.name}"
    theirs, *ours = bench.loads.by_turns(
        [(gzip, target, {"Accept-Encoding": "gzip"})]
        + [(dictum, target, {"Accept-Encoding": accept}) for accept in CLIENTS])
    return [
        Row(f"{path.stat().st_size:,} bytes of {path.suffix[1:]} to clients of {accept}: CPU",
            f"{load.microseconds:.0f} µs", f"{theirs.microseconds:.0f} µs", "nginx gzip -6",
            load.microseconds / theirs.microseconds, "at most", 1.0)
        for accept, load in zip(CLIENTS, ours)
    ]
