#!/usr/bin/env python3
"""What a built dictionary saves in a day of clients that come for the first time and return: the last table of deploy/BUILT.md.

    dictum train KIND --json --responses 1000000 > kind.json
    Tests/Benchmarks/firsts.py kind.json...

Each client fetches some resources of one kind per visit, by Zipf's law. It keeps each for a day, and gets a delta of a twelfth
of the plain response for a newer version, nothing for the same one, and otherwise a first response. With a dictionary, each client
that comes downloads it once.
"""

import json
import pathlib
import random
import sys

DAY = 86_400
# Of 10,000 clients, how many return after how many seconds on average: SimulatedClients.viewers and .pollers.
BROWSERS = [(200, 180), (1300, 1800), (3000, 14_400), (4000, 86_400), (1500, 300_000)]
APPS = [(50, 10), (500, 60), (2500, 600), (4000, 3600), (2950, 14_400)]
# The name, the clients, the resources, those of a visit, the seconds between two versions, and one client in how many is simulated.
CASES = [
    ("50 resources, browsers", BROWSERS, 50, 10, 3600, 20),
    ("1,000 resources, browsers", BROWSERS, 1000, 10, DAY, 20),
    ("50 resources, apps", APPS, 50, 3, 600, 100),
]
OWN_SHARE, OWN_BYTES_MIN = 12, 80


def visits(groups, resources, fetches, change, scale):
    """Returns the numbers of first responses, of deltas over an own version, of all requests, and of clients that came."""
    chance = random.Random(1)
    weights = [1 / (number + 1) for number in range(resources)]
    first = own = requests = clients = 0
    for count, mean in groups:
        for _ in range(count // scale):
            now, held = chance.expovariate(1 / mean), {}
            clients += now < DAY
            while now < DAY:
                for resource in chance.choices(range(resources), weights, k=fetches):
                    version = int((now + resource * 97) // change)
                    first += resource not in held
                    own += resource in held and held[resource] != version
                    requests += 1
                    held[resource] = version
                now += chance.expovariate(1 / mean)
    return first, own, requests, clients


def main(files):
    counts = [visits(*case[1:]) for case in CASES]
    print("first responses:", ", ".join(f"{first / requests:.0%}" for first, _, requests, _ in counts))
    print("| kind | coding |" + "".join(f" {case[0]} |" for case in CASES))
    print("|---|---|" + "---|" * len(CASES))
    for file in files:
        verdict = json.loads(pathlib.Path(file).read_text())["verdict"]
        plain = verdict["plain_bytes"]
        for coding in ("dcz", "dcb"):
            cells = []
            for first, own, _, clients in counts:
                deltas = own * max(OWN_BYTES_MIN, plain // OWN_SHARE)
                least = min(
                    first * each[coding] + clients * each["download_bytes"] for each in verdict["candidates"])
                cells.append(f"{1 - (least + deltas) / (first * plain + deltas):.1%}")
            print(f"| {pathlib.Path(file).stem} | {coding} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
