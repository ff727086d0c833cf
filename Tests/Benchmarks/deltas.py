"""What a delta costs the second time: from the cache, and with a dictionary that is prepared."""

import random
import subprocess

import loads
import servers
from table import Row


def rows(bench, versions):
    """All rows of this file."""
    before, now = versions[-2:]
    bench.origin.publish("article", before)
    dictums = {name: bench.start(servers.Dictum, bench.origin, bench.binary, f"dictum-{name}", **settings)
               for name, settings in _settings().items()}
    for dictum in dictums.values():
        loads.fetch(dictum, "/article", {"Accept-Encoding": "identity"})
    bench.origin.publish("article", now)
    delta = _delta(dictums["cached"], before)
    bench.origin.publish("delta.bin", random.Random(1).randbytes(len(delta)))
    bench.origin.publish("whole.bin", now)
    return [*_cached_rows(bench, dictums, before, len(delta)), *_prepared_rows(bench, dictums["prepared"], before, now)]


def _settings():
    route = {"match": "/*", "dictionary": {"delivery": "in_band"}}
    revalidated = {"match": "/*", "dictionary": {"delivery": "in_band", "revalidate": True}}
    return {
        "cached": {"routes": [route]},
        "revalidated": {"routes": [revalidated]},
        "prepared": {"routes": [route], "memory": {"deltas": "0%"}},
    }


def _delta(dictum, before):
    coding, delta = loads.fetch(dictum, "/article", _fields(before))
    if coding != "dcz":
        raise SystemExit(f"{dictum.name} answered with {coding or 'no coding'} instead of dcz")
    return delta


def _fields(before):
    return {"Accept-Encoding": "dcz", **loads.advertising(before)}


def _cached_rows(bench, dictums, before, size):
    cached, revalidated = dictums["cached"], dictums["revalidated"]
    for dictum in [cached, revalidated]:
        _delta(dictum, before)
    made = cached.metric("dictum_compression_seconds_total", "dcz")
    read, asked, forwarded, whole = bench.loads.by_turns([
        (cached, "/article", _fields(before)), (revalidated, "/article", _fields(before)),
        (cached, "/delta.bin", {}), (cached, "/whole.bin", {})])
    if cached.metric("dictum_compression_seconds_total", "dcz") > made:
        raise SystemExit("a delta was made again")
    title = f"A delta of {size / 1000:.1f} KB from the cache"
    return [
        _row(f"{title}, upstream asked with a condition", asked, forwarded, "forward its size", 1.2),
        _row(f"{title}, whole answer read from upstream", read, forwarded, "forward its size"),
        _row(f"{title}, whole answer read from upstream", read, whole, "forward the whole"),
    ]


def _prepared_rows(bench, dictum, before, now):
    _delta(dictum, before)
    codec = _codec_microseconds(bench, before, now)
    made, forwarded, whole = bench.loads.by_turns(
        [(dictum, "/article", _fields(before)), (dictum, "/delta.bin", {}), (dictum, "/whole.bin", {})])
    title = "A delta with a prepared dictionary"
    return [
        Row(f"{title}: CPU", f"{made.microseconds:.0f} µs", f"{codec + other.microseconds:.0f} µs",
            f"codec ({codec:.0f} µs) + {what}", made.microseconds / (codec + other.microseconds), *aim)
        for other, what, aim in [
            (whole, "forward the whole", ("at most", 1.3)), (forwarded, "forward its size", ())]
    ]


def _codec_microseconds(bench, before, now):
    """The processor time that libzstd itself takes for the delta, called directly, with the dictionary prepared."""
    files = [bench.directory / name for name in ["before", "now"]]
    for file, body in zip(files, [before, now]):
        file.write_bytes(body)
    # The system's own Python, for which setup installs the module.
    output = subprocess.run(
        ["/usr/bin/python3", "-c", _CODEC, *map(str, files)], capture_output=True, text=True, check=True).stdout
    return float(output)


_CODEC = """
import statistics, sys, time, zstandard
before, now = (open(name, "rb").read() for name in sys.argv[1:])
dictionary = zstandard.ZstdCompressionDict(before, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
dictionary.precompute_compress(level=3)
compressor = zstandard.ZstdCompressor(level=3, dict_data=dictionary)
def one():
    began = time.process_time_ns()
    compressor.compress(now)
    return time.process_time_ns() - began
print(statistics.median(one() for _ in range(500)) / 1000)
"""


def _row(title, ours, theirs, other, target=None):
    return Row(f"{title}: CPU", f"{ours.microseconds:.1f} µs", f"{theirs.microseconds:.1f} µs", other,
               ours.microseconds / theirs.microseconds, *([] if target is None else ["at most", target]))
