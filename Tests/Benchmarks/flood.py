"""Whether clients that ask for a million odd paths push out what others hold, under default settings."""

import subprocess

import loads
import servers
from table import Row

ODD_COUNT = 1_000_000
ESTABLISHED_COUNT = 200
# The third request of a path ends the probation of its chain.
REQUESTS_TO_ESTABLISH = 3


def rows(bench):
    """All rows of this file."""
    generator = bench.start(servers.Generator)
    store = {"path": str(bench.directory / "flood.sqlite")}
    dictum = bench.start(servers.Dictum, generator, bench.binary, "dictum-flood", store)
    for path in _established():
        for _ in range(REQUESTS_TO_ESTABLISH):
            loads.fetch(dictum, f"{path}?v=0", {})
    began = dictum.metric("dictum_requests_total")
    loads.wrk_script(
        dictum, "flood.lua", [], 600, until=lambda: dictum.metric("dictum_requests_total") - began >= ODD_COUNT)
    asked = int(dictum.metric("dictum_requests_total") - began)
    held = sum(_is_delta(bench, dictum, path) for path in _established())
    chains = int(dictum.metric("dictum_store_chains"))
    dictum.stop()
    return [
        Row(f"Chains still used after {asked:,} odd paths ({chains:,} chains stored)", f"{held}",
            f"{ESTABLISHED_COUNT}", "established before", held / ESTABLISHED_COUNT, "at least", 1)]


def _established():
    return (f"/made/established/{number}" for number in range(ESTABLISHED_COUNT))


def _is_delta(bench, dictum, path):
    """Whether the body after the first goes out as a delta over it, and is right."""
    former, newer = (servers.Generator.made(path, version) for version in (0, 1))
    coding, body = loads.fetch(dictum, f"{path}?v=1", {"Accept-Encoding": "dcz", **loads.advertising(former)})
    if coding != "dcz":
        return False
    file = bench.directory / "former"
    file.write_bytes(former)
    decoded = subprocess.run(["zstd", "-q", "-d", "-c", "-D", file], input=body, stdout=subprocess.PIPE, check=True)
    return decoded.stdout == newer
