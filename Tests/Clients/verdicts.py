#!/usr/bin/python3
"""Compares the findings of `dictum conformance --json` in a file with a column of the table in deploy/CLIENTS.md.

    verdicts.py COLUMN FILE"""

import json
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy/CLIENTS.md"
# How the table writes the verdicts.
WORDS = {"pass": "yes", "fail": "**no**", "not tried": "-"}


def column(name):
    """What the table says of a client, by rule."""
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in PAGE.read_text(encoding="utf-8").splitlines()
            if line.startswith("|")]
    start = next(index for index, row in enumerate(rows) if row[0] == "rule" and name in row)
    place, found = rows[start].index(name), {}
    for row in rows[start + 2:]:
        if len(row) != len(rows[start]):
            break
        found[row[0].strip("`")] = row[place]
    return found


def compare(name, findings):
    """Returns what differs, in one text; an empty one if nothing does."""
    said = column(name)
    found = {finding["rule"]: finding for finding in map(json.loads, findings.splitlines())}
    lines = [f"{rule}: the table says {said.get(rule, 'nothing')}, the judge {word} ({found[rule].get('detail') or 'no detail'})"
             for rule in found if said.get(rule) != (word := WORDS[found[rule]["verdict"]])]
    lines += [f"{rule}: the judge says nothing" for rule in said if rule not in found]
    return "; ".join(lines)


if __name__ == "__main__":
    if mistakes := compare(sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")):
        raise SystemExit(mistakes)
