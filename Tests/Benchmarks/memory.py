#!/usr/bin/env python3
"""What memory the proxy takes in the long run: resident bytes under a mixed load over many chains.

As a program: prints them every ten seconds for so many minutes, then says whether they grew."""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import loads  # noqa: E402
import servers  # noqa: E402
from table import Row  # noqa: E402

CHAINS = 5000
VERSIONS = 20
BUDGETS = {"store": 64, "coding": 32, "prepared": 16, "deltas": 16, "contexts": 16}
MEBIBYTE = 1 << 20


def rows(bench, requests):
    """The one row of this file."""
    load = MixedLoad(bench, requests // VERSIONS)
    base = load.base_bytes()
    load.run(lambda: load.dictum.metric("dictum_responses_total") >= requests)
    budgets = sum(BUDGETS.values()) * MEBIBYTE
    ours, allowed = load.dictum.resident_bytes(), base + budgets
    hits = load.dictum.metric("dictum_requests_total", 'coding="dc') / load.dictum.metric("dictum_responses_total")
    title = f"Memory after {requests:,} requests over {CHAINS:,} chains, {hits:.0%} deltas"
    return [Row(title, _megabytes(ours), _megabytes(allowed), f"base {_megabytes(base)} + budgets", ours / allowed,
                "at most", 1.2)]


def _megabytes(count):
    return f"{count / 1e6:.0f} MB"


class MixedLoad:
    """A proxy with small budgets before a generator, and wrk before both."""

    def __init__(self, bench, requests_per_version, max_size="512MiB"):
        self.bench, self.requests_per_version = bench, requests_per_version
        generator = bench.start(servers.Generator)
        store = {"path": str(bench.directory / "mixed.sqlite"), "max_size": max_size}
        routes = [{"match": "/*", "dictionary": {"delivery": "in_band"}}]
        self.dictum = bench.start(
            servers.Dictum, generator, bench.binary, "dictum-mixed", store, routes,
            memory=servers.budgets(**BUDGETS))
        self.body = bench.directory / "body"
        self.body.write_bytes(servers.Generator.made("%PATH%", "%VERSION%"))

    def base_bytes(self):
        """What the proxy takes when it has only forwarded, on as many connections."""
        loads.wrk(self.dictum, "/made/0?short", {}, 1)
        return self.dictum.resident_bytes()

    def run(self, until):
        """Loads the proxy until something is so."""
        arguments = [CHAINS, self.requests_per_version, 1, self.body]
        loads.wrk_script(self.dictum, "mixed.lua", arguments, 24 * 3600, until)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the dictum to look at")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dictum-memory-") as directory:
        bench = servers.Bench(pathlib.Path(directory), options.binary)
        try:
            samples = watch(bench, options.minutes * 60)
        finally:
            bench.stop()
    # The first third fills caches and chains.
    middle, last = (statistics.median(samples[len(samples) * part // 3:len(samples) * (part + 1) // 3])
                    for part in [1, 2])
    print(f"median of the second third {_megabytes(middle)}, of the last {_megabytes(last)}: {last / middle - 1:+.1%}")


def watch(bench, seconds):
    """The resident bytes, every ten seconds."""
    # A small store, so that it is full in the first third.
    load = MixedLoad(bench, 25_000, max_size="16MiB")
    began, samples = time.monotonic(), []

    def is_over():
        elapsed = time.monotonic() - began
        if elapsed >= 10 * (len(samples) + 1):
            samples.append(load.dictum.resident_bytes())
            values = {name: load.dictum.metric(f"dictum_{name}") for name in [
                "responses_total", "admissions_total", "store_versions"]}
            places = {place: load.dictum.metric("dictum_store_bytes", place) for place in ["memory", "disk"]}
            print(f"{elapsed:5.0f} s  {_megabytes(samples[-1]):>7}  ", *(f"{name} {value:.0f}" for name, value in [
                *values.items(), *places.items()]), flush=True)
        return elapsed >= seconds

    load.run(is_over)
    return samples


if __name__ == "__main__":
    main()
