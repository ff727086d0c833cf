"""What the number of stored versions costs: look-ups, admissions, and the time to open the store."""

import pathlib
import statistics
import time

import loads
import servers
from table import Row

COUNTS = [10, 100_000]
VERSIONS_PER_CHAIN = 10
OPENED_COUNT = 10_000
ROUTES = [{"match": "/*", "dictionary": {"versions": 16, "delivery": "in_band"}}]


def rows(bench):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    return [*_index_rows(bench, generator), *_opening_rows(bench, generator)]


def _index_rows(bench, generator):
    stores = [_filled(bench, generator, count) for count in COUNTS]
    lookups = [(dictum, _list(bench, "lookups", count, _lookups(count)), None) for dictum, count in zip(stores, COUNTS)]
    admissions = [(f"/unique/{number}", {}) for number in range(10)]
    unique = loads.request_list(bench.directory / "unique", admissions)
    few, many = bench.loads.by_turns(lookups)
    # Single rounds differ by 15 %, with whichever store it is: the ratio of the medians of 40 by 4 %.
    few_admitted, many_admitted = bench.loads.finer(8).by_turns([(dictum, unique, None) for dictum in stores])
    for dictum in stores:
        dictum.stop()
    few_count, many_count = (f"{count:,}" for count in COUNTS)
    return [
        Row(f"{title}, {many_count} versions stored: CPU a request", f"{ours.microseconds:.1f} µs",
            f"{theirs.microseconds:.1f} µs", f"{few_count} versions", ours.microseconds / theirs.microseconds,
            "at most", 1.1)
        for title, ours, theirs in [
            ("Look-up by digest", many, few), ("Forward and admit", many_admitted, few_admitted)]
    ]


def _filled(bench, generator, count):
    """A proxy whose store on disk has so many versions, all of them admitted over the wire."""
    store = {"path": str(bench.directory / f"{count}.sqlite"), "max_size": "4GiB", "write_rate": "1GiB"}
    dictum = bench.start(servers.Dictum, generator, bench.binary, f"dictum-{count}", store, ROUTES)
    _fill(bench, dictum, [(_target("made", number), {}) for number in range(count)])
    return dictum


def _fill(bench, dictum, requests):
    # A body that finds no slot, as the disk is busy, is admitted the next time.
    loads.wrk(dictum, loads.request_list(bench.directory / "filling", requests), None, 300,
              until=lambda: dictum.metric("dictum_store_versions") >= len(requests))
    if dictum.metric("dictum_store_versions") < len(requests):
        raise SystemExit(f"{dictum.name} does not admit {len(requests)} versions")


def _target(kind, number):
    return f"/{kind}/{number // VERSIONS_PER_CHAIN}?v={number % VERSIONS_PER_CHAIN}"


def _lookups(count):
    # As many versions whatever is stored, spread over all of it: what is advertised is noted on disk once a minute.
    for number in range(0, count, count // COUNTS[0]):
        path = f"/made/{number // VERSIONS_PER_CHAIN}"
        body = servers.Generator.made(path, number % VERSIONS_PER_CHAIN)
        yield path + "?short", {"Accept-Encoding": "dcz", **loads.advertising(body)}


def _list(bench, name, count, requests):
    return loads.request_list(bench.directory / f"{name}-{count}", requests)


# MARK: Opening


def _opening_rows(bench, generator):
    store = {"path": str(bench.directory / "opened.sqlite"), "max_size": "4GiB"}
    dictum = bench.start(servers.Dictum, generator, bench.binary, "dictum-opened", store, ROUTES)
    _fill(bench, dictum, [(_target("large", number), {}) for number in range(OPENED_COUNT)])
    # What the last transactions write is left to the end of the process.
    while dictum.metric("dictum_store_bytes", "disk") < 0.99 * 50_000 * OPENED_COUNT:
        time.sleep(0.1)
    dictum.stop()
    empty = {"path": str(bench.directory / "empty.sqlite")}
    seconds, read = zip(*(_opened(bench, generator, store) for _ in range(bench.loads.rounds)))
    empty_seconds, _ = zip(*(_opened(bench, generator, empty) for _ in range(bench.loads.rounds)))
    ours, theirs = statistics.median(seconds), statistics.median(empty_seconds)
    size = pathlib.Path(store["path"]).stat().st_size
    title = f"Start with {OPENED_COUNT:,} versions of 50 KB stored"
    return [
        Row(f"{title}: until it accepts", f"{ours:.2f} s", "0.50 s", f"the aim; {theirs:.2f} s empty", ours / 0.5,
            "at most", 1),
        Row(f"{title}: bytes read", f"{read[0] / 1e6:.1f} MB", f"{size / 1e6:.0f} MB", "the file", read[0] / size,
            "at most", 0.05),
    ]


def _opened(bench, generator, store):
    """How long a start takes until the proxy accepts, and how many bytes it has read by then."""
    began = time.monotonic()
    dictum = servers.Dictum(bench.directory, generator, bench.binary, "dictum-opened", store, ROUTES)
    try:
        dictum.wait(interval=0.002)
        seconds = time.monotonic() - began
        if dictum.metric("dictum_store_versions") not in (0, OPENED_COUNT):
            raise SystemExit("the store did not keep what it was given")
        fields = pathlib.Path(f"/proc/{dictum.process.pid}/io").read_text().split()
        return seconds, int(fields[fields.index("rchar:") + 1])
    finally:
        dictum.stop()
