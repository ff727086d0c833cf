"""The answers of an API over time: generated, the same in every run, or read from a directory."""

import json
import pathlib
import random

PLACES = ["Alder Creek", "Bald Hill", "Cedar Flat", "Dry Lake", "Elk Ridge", "Fern Canyon", "Gold Run", "Hat Peak"]
KINDS = ["Wildfire", "Prescribed", "Structure", "Vehicle"]
WORDS = """containment crews remain on scene evacuation order lifted for zone road closed between mile markers wind
north expected overnight update forward progress stopped mop up continues resources assigned engines dozers""".split()


def generated(versions=6, items=740):
    """Versions of a list of incidents, about 250 KB each: later ones gain items in front, lose old ones at the end
    and change a few numbers in the middle."""
    return [one(number, items) for number in range(versions)]


def read(directory):
    """The files of a directory as versions, in the order of the numbers that name them."""
    files = [path for path in pathlib.Path(directory).iterdir() if path.is_file() and path.stem.isdigit()]
    versions = [path.read_bytes() for path in sorted(files, key=lambda path: int(path.stem))]
    if len(versions) < 2:
        raise SystemExit(f"{directory} holds fewer than two versions: files named 0.json, 1.json and so on")
    return versions


def small():
    """A JSON answer of 250 bytes."""
    text = json.dumps({"id": 4711, "name": "Cedar Flat", "kind": "Wildfire", "acres": 1204, "note": ""})
    return text.replace('"note": ""', '"note": "' + "x" * (250 - len(text)) + '"').encode()


def pieces(sizes):
    """Texts of these sizes, all different, of letters that need no escape."""
    chance = random.Random(1)
    return [" ".join(chance.choice(WORDS) for _ in range(size))[:size] for size in sizes]


def one(version, items):
    """One version of such a list, of 340 bytes an item."""
    newest = 10_000 + items + 2 * version
    return json.dumps({"version": version, "incidents": [_item(newest - row, version) for row in range(items)]}).encode()


def _item(number, version):
    # Each item has its own generator, so only the intended fields differ between versions.
    chance = random.Random(number)
    changes = 7 * version if number % 20 == 0 else 0
    return {
        "id": f"{chance.getrandbits(64):016x}",
        "name": f"{chance.choice(PLACES)} {number % 97}",
        "kind": chance.choice(KINDS),
        "started": f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00Z",
        "acres": chance.randrange(100_000) + 13 * changes,
        "contained": (number + changes) % 100,
        "position": [chance.randrange(32_000, 41_000) / 1000, -chance.randrange(114_000, 123_000) / 1000],
        "active": number % 3 == 0,
        "url": f"https://example.com/incidents/{number}",
        "note": " ".join(chance.choice(WORDS) for _ in range(14)),
    }
