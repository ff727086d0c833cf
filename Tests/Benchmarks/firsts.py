#!/usr/bin/env python3
"""What a built dictionary saves of all bytes in a day: the table of deploy/FIGURES.md, "First responses".

    dictum train KIND --json > kind.json
    Tests/Benchmarks/firsts.py kind.json...

Each client fetches some resources of one kind per visit, by Zipf's law. It keeps each for a day, and gets a delta of a twelfth
of the plain response for a newer version, nothing for the same one, and otherwise a first response. A client downloads the dictionary
once. A browser does so after its first visit, an app before. On the first day all clients come anew; on the second they hold
what they have from the first.
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


class Day:
    """The responses of a day by kind, and the downloads of the dictionary."""

    def __init__(self):
        self.requests = self.before = self.over = self.own = self.downloads = 0

    def bytes(self, plain, built, download):
        deltas = self.own * max(OWN_BYTES_MIN, plain // OWN_SHARE)
        return self.before * plain + self.over * built + self.downloads * download + deltas


def days(groups, resources, fetches, change, scale):
    """Returns the first day and the second."""
    chance = random.Random(1)
    weights = [1 / (number + 1) for number in range(resources)]
    both = [Day(), Day()]
    for count, mean in groups:
        for _ in range(count // scale):
            now, held, has_dictionary = chance.expovariate(1 / mean), {}, False
            while now < 2 * DAY:
                day = both[int(now // DAY)]
                day.downloads += not has_dictionary
                for resource in chance.choices(range(resources), weights, k=fetches):
                    version = int((now + resource * 97) // change)
                    former, kept = held.get(resource, (None, 0))
                    if former is None or now - kept > DAY:
                        if has_dictionary or groups is APPS:
                            day.over += 1
                        else:
                            day.before += 1
                    else:
                        day.own += former != version
                    day.requests += 1
                    held[resource] = (version, now)
                has_dictionary = True
                now += chance.expovariate(1 / mean)
    return both


def main(files):
    all_days = [(f"{case[0]}, day {number}", day) for case in CASES for number, day in enumerate(days(*case[1:]), 1)]
    print("| kind | coding |" + "".join(f" {name} |" for name, _ in all_days))
    print("|---|---|" + "---|" * len(all_days))
    shares = (f"{(day.before + day.over) / day.requests:.0%}" for _, day in all_days)
    print("| first responses | | " + " | ".join(shares) + " |")
    for file in files:
        verdict = json.loads(pathlib.Path(file).read_text())["verdict"]
        plain = verdict["plain_bytes"]
        for coding in ("dcz", "dcb"):
            cells = []
            for _, day in all_days:
                least = min(day.bytes(plain, each[coding], each["download_bytes"]) for each in verdict["candidates"])
                cells.append(f"{1 - least / (day.bytes(plain, plain, 0)):.1%}")
            print(f"| {pathlib.Path(file).stem} | {coding} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
