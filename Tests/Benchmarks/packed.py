"""What it costs that versions are packed: the bytes of a feed on disk, and deltas over a version that is unpacked first."""

import pathlib
import time

import history
import loads
import servers
from table import Row

# The smaller memory, in MiB, holds less than a quarter of these versions unpacked. An eighth of it holds a base with its index,
# and half of it holds all versions packed.
SIZES = [(33, 400, 1), (330, 60, 3), (1370, 150, 16)]
CLIENTS = 10_000
# A chain keeps a tenth of them.
PATHS = 10
CLIENT_ITEMS = 76


def rows(bench):
    """All rows of this file."""
    return [*(row for size in SIZES for row in _delta_rows(bench, *size)), *_disk_rows(bench)]


def _delta_rows(bench, items, count, memory):
    bodies = [history.one(number, items) for number in range(count)]
    held = {name: _filled(bench, f"{name}-{items}", bodies, {}, store_memory=size)
            for name, size in [("whole", 256), ("packed", memory)]}
    asked = [("/feed", {"Accept-Encoding": "dcz", **loads.advertising(body)}) for body in bodies[:-1]]
    requests = loads.request_list(bench.directory / f"held-{items}", asked)
    for dictum in held.values():
        # Every version is there, and every response a delta.
        for path, fields in asked[::count // 10]:
            if loads.fetch(dictum, path, fields)[0] != "dcz":
                raise SystemExit(f"{dictum.name} has lost a version")
    whole, packed = bench.loads.by_turns([(held[name], requests, None) for name in ["whole", "packed"]])
    for dictum in held.values():
        dictum.stop()
    size = sum(map(len, bodies)) / count / 1000
    return [Row(f"A delta over one of {count} packed versions of {size:.0f} KB: CPU a request",
                f"{packed.microseconds:.0f} µs", f"{whole.microseconds:.0f} µs", "over a whole one in memory",
                packed.microseconds / whole.microseconds, "at most", 1.5)]


def _filled(bench, name, bodies, store, paths=("/feed",), store_memory=256):
    """A proxy that has admitted these bodies, on one path after the other, and makes every delta anew."""
    route = {"match": "/*", "dictionary": {"delivery": "in_band"}}
    dictum = bench.start(
        servers.Dictum, bench.origin, bench.binary, f"dictum-{name}", {"write_rate": "1GiB", **store}, [route],
        memory=servers.budgets(store=store_memory, coding=512))
    for number, body in enumerate(bodies):
        path = paths[number % len(paths)]
        bench.origin.publish(path[1:], body)
        # A body that finds no slot, as others are being written, is admitted the next time.
        for _ in range(100):
            loads.fetch(dictum, path, {"Accept-Encoding": "identity"})
            if len(paths) > 1 or dictum.metric("dictum_store_versions") > number:
                break
    return dictum


def _disk_rows(bench):
    """Each client holds a version of its own."""
    path = bench.directory / "packed.sqlite"
    bodies = [history.one(number // PATHS + number % PATHS * 10_000, CLIENT_ITEMS) for number in range(CLIENTS)]
    dictum = _filled(bench, "disk", bodies, {"path": str(path)}, [f"/feed{number}" for number in range(PATHS)])
    stored = 0
    while stored < (stored := dictum.metric("dictum_store_body_bytes_total", "stored")):
        time.sleep(0.5)
    whole = dictum.metric("dictum_store_body_bytes_total", "whole")
    if whole < 0.95 * sum(map(len, bodies)):
        raise SystemExit(f"{dictum.name} has not admitted all versions")
    fields = pathlib.Path(f"/proc/{dictum.process.pid}/io").read_text().split()
    written = int(fields[fields.index("write_bytes:") + 1])
    dictum.stop()
    size = path.stat().st_size
    title = f"{CLIENTS:,} versions of {whole / CLIENTS / 1000:.0f} KB"
    return [
        Row(f"{title}: on disk", f"{size / 2**20:.1f} MiB", f"{whole / 2**20:.0f} MiB", "the bodies", size / whole,
            "at most", round(32 * 2**20 / whole, 3)),
        Row(f"{title}: frames", f"{stored / 2**20:.1f} MiB", f"{whole / 2**20:.0f} MiB", "the bodies", stored / whole),
        Row(f"{title}: written to disk", f"{written / 2**20:.0f} MiB", f"{stored / 2**20:.1f} MiB", "the frames",
            written / stored),
    ]
