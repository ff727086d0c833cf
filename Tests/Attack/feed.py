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


# The path of many operations, which the bodies of requests name.
OPERATIONS = "/operations"


def operation(name):
    """The body of a request for an operation."""
    return json.dumps({"query": f"query {name} {{ rows }}", "operationName": name}).encode()


def content_fields(body):
    """The fields of a request with such a body."""
    return ["Content-Type: application/json", f"Content-Length: {len(body)}"]


def version():
    """The version that every path has now."""
    return int(time.time() / PERIOD_SECONDS)


@functools.lru_cache(maxsize=4096)
def body(path, number, detail=""):
    """A version of a path: one row in ten differs from the version before; `detail` is what a request made of it."""
    rows = [row(path, place, (number + place) // 10) for place in range(ROWS)]
    return json.dumps({"self": path, "version": number, "for": detail, "rows": rows}, indent=0).encode()


def row(path, number, age):
    """A row of words, which differs from those of other ages."""
    chance = zlib.crc32(f"{path} {number} {age}".encode())
    return f"{number} {chance:08x} " + " ".join(WORDS[(chance >> shift) % len(WORDS)] for shift in range(0, 28, 4))


def fresh(seed):
    """A body that resembles no other."""
    return random.Random(seed).randbytes(6_000).hex().encode()
