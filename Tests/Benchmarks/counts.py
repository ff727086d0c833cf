"""What a forwarded request costs in heap allocations and instructions: counted by callgrind, so that it repeats.

What is in `thresholds.json` fails the run when it is exceeded; the targets stand beside it. Two runs of different length
are compared, so that starting and stopping cancel out."""

import json
import pathlib
import re
import shutil
import socket
import subprocess

import history
import servers
from table import Row

THRESHOLDS = json.loads((pathlib.Path(__file__).resolve().parent / "thresholds.json").read_text())
REQUESTS = 500, 2500
REQUEST = b"GET /small HTTP/1.1\r\nHost: counts.test\r\n\r\n"
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
STOP_SECONDS = 120


def rows(bench):
    """All rows of this file; what exceeds its threshold is noted in the bench."""
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed: run `make bench`, which installs it")
    bench.origin.publish("small", history.small())
    binary = bench.directory / "dictum-stripped"
    # valgrind reads no debug information of this Swift.
    subprocess.run(["objcopy", "--strip-debug", bench.binary, str(binary)], check=True)
    count = Count(bench, binary)
    base, (many_routes, few_routes), (many_idle, few_idle) = (
        count(), [count(routes=number) for number in (1000, 1)], [count(idle=number) for number in (1000, 10)])
    title = "A forwarded request"
    return [
        _row(bench, f"{title}: heap allocations", "allocations", base.allocations),
        _row(bench, f"{title}: instructions", "instructions", base.instructions),
        _ratio_row(bench, f"{title}: instructions with 1,000 routes", "routes", many_routes, few_routes, "1 route"),
        _ratio_row(bench, f"{title}: instructions with 1,000 idle connections", "idle_connections", many_idle, few_idle,
                   "10 connections"),
    ]


def _row(bench, title, name, value):
    threshold = THRESHOLDS[name]
    target = threshold.get("target")
    if value > threshold["at_most"]:
        bench.exceeded.append(f"{title}: {value:,.1f}, and the threshold is {threshold['at_most']:,}")
    aim, which = (target, "the aim") if target else (threshold["at_most"], "the threshold")
    return Row(title, f"{value:,.1f}", f"{aim:,}", which, value / aim, "at most", 1)


def _ratio_row(bench, title, name, many, few, other):
    ratio, at_most = many.instructions / few.instructions, THRESHOLDS[name]["at_most"]
    if ratio > at_most:
        bench.exceeded.append(f"{title}: {ratio:.2f} times those with {other}, and the threshold is {at_most}")
    return Row(title, f"{many.instructions:,.0f}", f"{few.instructions:,.0f}", other, ratio, "at most", at_most)


class Cost:
    """What one request costs."""

    def __init__(self, allocations, instructions):
        self.allocations, self.instructions = allocations, instructions


class Count:
    """Counts what requests on one connection cost the proxy, under circumstances."""

    def __init__(self, bench, binary):
        self.bench, self.binary = bench, binary

    def __call__(self, routes=0, idle=0):
        few, many = (self._run(requests, routes, idle) for requests in REQUESTS)
        extra = REQUESTS[1] - REQUESTS[0]
        return Cost((many[0] - few[0]) / extra, (many[1] - few[1]) / extra)

    def _run(self, requests, routes, idle):
        """The allocations and instructions of a process from its start to its end."""
        directory = self.bench.directory
        wrapper, report = directory / "counted", directory / "callgrind.out"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind -q --tool=callgrind --callgrind-out-file='{report}' '{self.binary}' \"$@\"\n")
        wrapper.chmod(0o755)
        # The last one is the one that matches.
        settings = [{"match": f"/none-{number}/*"} for number in range(routes - 1)] + [{"match": "/small"}]
        dictum = self.bench.start(
            servers.Dictum, self.bench.origin, str(wrapper), "dictum-counted", routes=settings if routes else None)
        resting = [socket.create_connection(("127.0.0.1", dictum.port)) for _ in range(idle)]
        _ask(dictum, requests)
        for connection in resting:
            connection.close()
        dictum.process.terminate()
        dictum.process.wait(STOP_SECONDS)
        if dictum.process.returncode:
            raise SystemExit(f"dictum failed under valgrind:\n{dictum.log.read_text(errors='replace')}")
        return _totals(report)


def _ask(dictum, requests):
    body = history.small()
    with socket.create_connection(("127.0.0.1", dictum.port), timeout=60) as connection:
        for _ in range(requests):
            connection.sendall(REQUEST)
            answer = b""
            while not answer.endswith(body):
                piece = connection.recv(65536)
                if not piece:
                    raise SystemExit(f"dictum closed the connection:\n{answer}")
                answer += piece


def _totals(report):
    """How often something was allocated, and how many instructions were executed."""
    names, callee, allocations, instructions = {}, None, 0, 0
    with report.open(errors="replace") as lines:
        for line in lines:
            # The first mention of a function has its name, further ones only its number.
            if found := re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line):
                kind, number, name = found.groups()
                if name:
                    names[number] = name
                callee = number if kind == "cfn" else callee
            elif line.startswith("calls=") and names.get(callee) in ALLOCATORS:
                allocations += int(line[6:].split()[0])
            elif line.startswith(("summary:", "totals:")):
                instructions = int(line.split()[1])
    if not allocations or not instructions:
        raise SystemExit(f"{report} has no counts")
    return allocations, instructions
