"""What the number of stored versions costs: look-ups, admissions, and the time to open the store."""

import hashlib
import pathlib
import sqlite3
import statistics
import time

import loads
import servers
from table import Row

COUNTS = [10, 100_000]
VERSIONS_PER_CHAIN = 10
OPENED_COUNT = 10_000
MILLION = 1_000_000
HOST = "bench.example"
ROUTES = [{"match": "/*", "dictionary": {"delivery": "in_band"}}]


def rows(bench):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    return [*_index_rows(bench, generator), *_chain_rows(bench, generator), *_opening_rows(bench, generator),
            *_million_rows(bench, generator)]


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
    # The same number of versions for every store size, spread over the store: advertised ones are noted on disk once a minute.
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
    # The last transactions are written when the process ends.
    dictum.stop()
    empty = {"path": str(bench.directory / "empty.sqlite")}
    seconds, read, _ = zip(*(_opened(bench, generator, store) for _ in range(bench.loads.rounds)))
    empty_seconds, _, _ = zip(*(_opened(bench, generator, empty) for _ in range(bench.loads.rounds)))
    ours, theirs = statistics.median(seconds), statistics.median(empty_seconds)
    size = 50_000 * OPENED_COUNT
    title = f"Start with {OPENED_COUNT:,} versions of 50 KB stored"
    return [
        Row(f"{title}: until it accepts", f"{ours:.2f} s", "0.50 s", f"the aim; {theirs:.2f} s empty", ours / 0.5,
            "at most", 1),
        Row(f"{title}: bytes read", f"{read[0] / 1e6:.1f} MB", f"{size / 1e6:.0f} MB", "the bodies", read[0] / size,
            "at most", 0.05),
    ]


def _million_rows(bench, generator):
    """Stores that SQLite fills itself: what matters is what opening them does, and what is in memory then."""
    few = _store(bench, generator, "few", MILLION, MILLION // 10)
    many = _store(bench, generator, "many", MILLION, VERSIONS_PER_CHAIN)
    seconds, _, resident = zip(*(_opened(bench, generator, many, MILLION) for _ in range(bench.loads.rounds)))
    ours, in_chains = statistics.median(seconds), statistics.median(resident)
    in_few = _opened(bench, generator, few, MILLION)[2]
    nothing = _opened(bench, generator, {"path": str(bench.directory / "nothing.sqlite")})[2]
    title = f"{MILLION:,} versions in chains of"
    chain = (in_chains - in_few) / (MILLION / VERSIONS_PER_CHAIN - 10)
    return [
        Row(f"Start with {title} {VERSIONS_PER_CHAIN}: until it accepts", f"{ours:.2f} s", "2.00 s", "the aim", ours / 2,
            "at most", 1),
        _memory_row(f"{title} {MILLION // 10:,}: resident memory of a version", (in_few - nothing) / MILLION, 200),
        _memory_row(f"{title} {VERSIONS_PER_CHAIN}: the same, with its part of the chain",
                    (in_chains - nothing) / MILLION, 240),
        _memory_row(f"{title} {VERSIONS_PER_CHAIN}: resident memory of a chain itself", chain, 400),
    ]


def _memory_row(title, size, aim):
    return Row(title, f"{size:.0f} B", f"{aim} B", "the aim", size / aim, "at most", 1)


def _store(bench, generator, name, count, per_chain):
    """A store with so many versions, whose bodies are of no matter."""
    store = {"path": str(bench.directory / f"{name}.sqlite"), "max_size": "16GiB", "max_chains": MILLION // 5}
    bench.start(servers.Dictum, generator, bench.binary, "dictum-opened", store, ROUTES).stop()
    database = sqlite3.connect(store["path"])
    database.executescript(f"""
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count})
            INSERT INTO body (id, bytes) SELECT i, zeroblob(300) FROM n;
        INSERT INTO chain (id, authority, scope, "match", match_dest)
            SELECT id, '127.0.0.1:{generator.port}', 'public', '/items/' || id, '' FROM body
            WHERE id <= {count // per_chain};
        INSERT INTO version (id, chain, body, digest, url, variant, content_type, size, rank, admitted, last_wanted, max_age)
            SELECT id, (id - 1) / {per_chain} + 1, id, randomblob(32),
                '/items/' || ((id - 1) / {per_chain} + 1), '', 'application/json', 300, id,
                {int(time.time())}, {int(time.time())}, 2592000 FROM body;
        """)
    database.close()
    return store


# MARK: One chain


def _chain_rows(bench, generator):
    """Look-ups, and admissions that push another version out, in one chain with few versions and with many."""
    stores = [_one_chain(bench, generator, count) for count in COUNTS]
    lookups = [(dictum, _list(bench, "chain", count, [
        ("/unique/0?short", {"Host": HOST, "Accept-Encoding": "dcz", **loads.advertising(body)}) for body in _bodies(count)]), None)
        for dictum, count in zip(stores, COUNTS)]
    admissions = loads.request_list(bench.directory / "pushing", [(f"/unique/{number}", {"Host": HOST}) for number in range(10)])
    few, many = bench.loads.by_turns(lookups)
    few_admitted, many_admitted = bench.loads.finer(8).by_turns([(dictum, admissions, None) for dictum in stores])
    for dictum in stores:
        dictum.stop()
    few_count, many_count = (f"{count:,}" for count in COUNTS)
    return [
        Row(f"{title}, {many_count} versions in one chain: CPU a request", f"{ours.microseconds:.1f} µs",
            f"{theirs.microseconds:.1f} µs", f"{few_count} versions", ours.microseconds / theirs.microseconds,
            "at most", 1.1)
        for title, ours, theirs in [
            ("Look-up by digest", many, few), ("Forward, admit and evict", many_admitted, few_admitted)]
    ]


def _bodies(count):
    for number in range(0, count, count // COUNTS[0]):
        yield b"body %d" % number


def _one_chain(bench, generator, count):
    """A proxy whose store has one chain with so many versions, which is all that it may have."""
    store = {"path": str(bench.directory / f"chain-{count}.sqlite"), "max_size": "4GiB", "write_rate": "1GiB"}
    routes = [{"match": "/unique/*", "dictionary": {"delivery": "in_band", "covers": "pattern"}}]
    name = f"dictum-chain-{count}"
    bench.start(servers.Dictum, generator, bench.binary, name, store, routes).stop()
    now = int(time.time())
    with sqlite3.connect(store["path"]) as database:
        database.execute("""INSERT INTO chain (id, authority, scope, "match", match_dest) VALUES (1, ?, 'public',
            '/unique/*', '')""", (HOST,))
        for number in range(count):
            body = b"body %d" % number
            database.execute("INSERT INTO body (id, bytes) VALUES (?, ?)", (number + 1, body))
            database.execute("""INSERT INTO version (id, chain, body, digest, url, variant, content_type, size, rank,
                admitted, last_wanted, max_age) VALUES (?, 1, ?, ?, ?, '', 'application/json', ?, ?, ?, ?, 2592000)""",
                (number + 1, number + 1, hashlib.sha256(body).digest(), f"/unique/0?v={number % 1000}", len(body),
                 number + 1, now, now))
    return bench.start(servers.Dictum, generator, bench.binary, name, store, routes)


def _opened(bench, generator, store, count=OPENED_COUNT):
    """How long a start takes until the proxy accepts, how many bytes it has read by then, and its resident memory."""
    began = time.monotonic()
    dictum = servers.Dictum(bench.directory, generator, bench.binary, "dictum-opened", store, ROUTES)
    try:
        dictum.wait(interval=0.002)
        seconds = time.monotonic() - began
        if dictum.metric("dictum_store_versions") not in (0, count):
            raise SystemExit("the store did not keep what it was given")
        fields = pathlib.Path(f"/proc/{dictum.process.pid}/io").read_text().split()
        return seconds, int(fields[fields.index("rchar:") + 1]), dictum.resident_bytes()
    finally:
        dictum.stop()
