"""What a million users come to, each with a version of its own: bytes on disk, memory, and whether they are all there.

By default a tenth of them, as what one takes does not depend on how many there are."""

import re
import time

import loads
import servers
from table import Row

USERS = 1_000_000
SAMPLE = 100_000
# The aim: this many bytes on disk for all of them.
DISK = 3_000_000_000


def rows(bench, users=SAMPLE):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    path = bench.directory / "personal.sqlite"
    store = {"path": str(path), "max_size": "8GiB", "private_max_size": "8GiB", "write_rate": "1GiB"}
    dictum = bench.start(
        servers.Dictum, generator, bench.binary, "dictum-personal", store, memory=servers.budgets(store=128, coding=512))
    before = dictum.resident_bytes()
    asked = loads.request_list(
        bench.directory / "users",
        [("/inbox", {"Authorization": f"Bearer {number:07}", "Accept-Encoding": "dcz"}) for number in range(users)])
    # A body that finds no slot, as the disk is busy, is admitted the next time.
    loads.wrk(dictum, asked, None, 3600, until=lambda: dictum.metric("dictum_store_versions") >= users)
    if dictum.metric("dictum_store_versions") < users:
        raise SystemExit(f"{dictum.name} does not admit {users:,} versions")
    _written(dictum)
    # Bodies that happen to be in memory do not count.
    hot = sum(dictum.metric("dictum_store_bytes", f'place="{place}"') for place in ["memory", "packed"])
    memory = dictum.resident_bytes() - before - hot
    found = _found(dictum, users)
    dictum.stop()
    size = path.stat().st_size
    body = len(servers.Generator.personal("0000000"))
    title = f"{users:,} users with a version of {body / 1000:.0f} KB each"
    return [
        Row(f"{title}: on disk, by a million", f"{size / users * USERS / 1e9:.2f} GB", f"{DISK / 1e9:.2f} GB", "the aim",
            size / users * USERS / DISK, "at most", 1),
        Row(f"{title}: memory, by a million", f"{memory / users * USERS / 1e9:.2f} GB", f"{body * USERS / 1e9:.1f} GB",
            "the bodies", memory / users / body),
        Row(f"{title}: deltas for those who come back", f"{found:.1%}", "100 %", "", found, "at least", 1),
    ]


def _written(dictum):
    """Returns once nothing waits to be written."""
    stored = -1
    while stored < (stored := dictum.metric("dictum_store_body_bytes_total", "stored")):
        time.sleep(1)


def _found(dictum, users, count=200):
    """How many of some users get a delta when they come back, with another token."""
    deltas = 0
    for number in range(0, users, users // count):
        token = f"{number:07}"
        fields = {"Authorization": f"Bearer {token}", "Accept-Encoding": "dcz"}
        field = loads.response_field(dictum, "/inbox", fields, "use-as-dictionary")
        identifier = re.search('id="([^"]+)"', field).group(1)
        again = {"Authorization": "Bearer rotated", "Accept-Encoding": "dcz", "Dictionary-ID": f'"{identifier}"',
                 **loads.advertising(servers.Generator.personal(token))}
        deltas += loads.fetch(dictum, "/inbox", again)[0] == "dcz"
    return deltas / len(range(0, users, users // count))
