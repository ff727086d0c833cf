"""The bodies of the origin, made from a target and the time, so that origin and clients know them alike."""

import functools
import json
import random
import time
import zlib

PERIOD_SECONDS = 4
ROWS = 160
WORDS = """containment crews remain on scene evacuation order lifted for zone road closed between mile markers wind
north expected overnight update forward progress stopped mop up continues resources assigned engines dozers""".split()


def version():
    """The version that every path has now."""
    return int(time.time() / PERIOD_SECONDS)


@functools.lru_cache(maxsize=4096)
def body(path, number, detail=""):
    """A version of a path: one row in ten differs from the version before; `detail` is what a request made of it."""
    rows = [_row(path, row, (number + row) // 10) for row in range(ROWS)]
    return json.dumps({"self": path, "version": number, "for": detail, "rows": rows}, indent=0).encode()


def _row(path, row, age):
    chance = zlib.crc32(f"{path} {row} {age}".encode())
    return f"{row} {chance:08x} " + " ".join(WORDS[(chance >> shift) % len(WORDS)] for shift in range(0, 28, 4))


def fresh(seed):
    """A body that resembles no other."""
    return random.Random(seed).randbytes(6_000).hex().encode()
