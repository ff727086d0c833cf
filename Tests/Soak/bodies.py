"""What the upstream answers, made from the path and the version alone, so that anybody can say what is right."""

import functools
import random
import time
import zlib

PERIOD_SECONDS = 20
LARGE_LINES = 20_000
WORDS = """containment crews remain on scene evacuation order lifted for zone road closed between mile markers wind
north expected overnight update forward progress stopped mop up continues resources assigned engines dozers""".split()


def current_version():
    """The version that every path answers now."""
    return int(time.monotonic() / PERIOD_SECONDS)


@functools.lru_cache(maxsize=512)
def made(name, version, lines):
    """The body of a version: its first line names it, and each version changes one line in thirty of the one before."""
    rows = [f'{{"name":"{name}","version":{version},"rows":[']
    rows += [_row(name, row, (version + row) // 30) for row in range(lines)]
    return ("\n".join(rows) + '\n""]}\n').encode()


def _row(name, row, age):
    # Not by `random`, which takes longer to seed than all the rest takes.
    chance = zlib.crc32(f"{name} {row} {age}".encode())
    return f'"{row} {chance:08x} {" ".join(WORDS[(chance >> shift) % len(WORDS)] for shift in range(0, 24, 3))}",'


@functools.lru_cache(maxsize=64)
def noise(name, size):
    """Bytes that nothing makes smaller."""
    return random.Random(name).randbytes(size)


def version_of(body):
    """The version that a body of `made` names; -1 for anything else."""
    begin = body.find(b'"version":', 0, 300)
    digits = body[begin + 10:begin + 30].partition(b",")[0] if begin >= 0 else b""
    return int(digits) if digits.isdigit() else -1
