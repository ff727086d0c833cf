"""Loads by wrk on the servers that are compared, and single requests."""

import base64
import hashlib
import http.client
import json
import pathlib
import signal
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 64


class Loads:
    """Loads by wrk on one server after the other, round after round.

    A target is a server, a path and fields; or a server, the file of a list of requests, and None (see many.lua)."""

    def __init__(self, rounds, seconds, connections=CONNECTIONS, processors=None):
        self.rounds, self.seconds, self.connections, self.processors = rounds, seconds, connections, processors

    def finer(self, times):
        """Loads in so many times more rounds, each as much shorter, if it can be: for what differs little."""
        return Loads(self.rounds * times, max(1, self.seconds // times), self.connections)

    def over(self, connections):
        """The same loads over so many connections."""
        return Loads(self.rounds, self.seconds, connections)

    def on(self, processors):
        """The same loads, made by these processors alone."""
        return Loads(self.rounds, self.seconds, self.connections, processors)

    def by_turns(self, targets):
        """The medians of each (server, path, fields)."""
        for target in targets:
            self._load(*target, seconds=1)
        samples = [[] for _ in targets]
        for round in range(self.rounds):
            # The order of the targets matters a little, so every other round reverses it.
            for target, column in list(zip(targets, samples))[::-1 if round % 2 else 1]:
                column.append(self._load(*target, self.seconds))
        return [Load.median(column) for column in samples]

    def paced(self, servers, path, rate):
        """The 99th percentile of the time an answer takes, in microseconds, at a rate that is the same for all."""
        # Each connection sends 20 requests per second, so that a late response delays few others.
        connections = max(self.connections, round(rate / 20))
        samples = [[self._percentile(server, path, rate, connections) for server in servers]
                   for _ in range(self.rounds)]
        return [statistics.median(column) for column in zip(*samples)]

    def _percentile(self, server, path, rate, connections):
        pause = connections / rate * 1000
        report = wrk_script(server, "paced.lua", [pause], self.seconds, path=path, connections=connections)
        return report["p99"]

    def _load(self, server, path, fields, seconds):
        before = server.processor_seconds()
        report = wrk(server, path, fields, seconds, connections=self.connections, processors=self.processors)
        used = server.processor_seconds() - before
        return Load(
            rate=report["requests"] / report["microseconds"] * 1e6,
            microseconds=used / report["requests"] * 1e6, bytes=report["bytes"] / report["requests"])


def wrk(server, path, fields, seconds, until=None, connections=CONNECTIONS, processors=None):
    """One load on a path, or with a list of requests; what it came to."""
    if fields is None:
        return wrk_script(server, "many.lua", [path], seconds, until, connections=connections, processors=processors)
    return wrk_script(server, "load.lua", [], seconds, until, path, fields, connections, processors)


def wrk_script(server, script, arguments, seconds, until=None, path="/", fields=None, connections=CONNECTIONS,
               processors=None):
    """One load by a script; what it came to. It ends after these seconds, or as soon as `until()` says so."""
    only = ["taskset", "-c", ",".join(map(str, sorted(processors)))] if processors else []
    command = [*only, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", str(HERE / script)]
    for name, value in (fields or {}).items():
        command += ["-H", f"{name}: {value}"]
    command += [f"{server.scheme}://127.0.0.1:{server.port}{path}", "--", *map(str, arguments)]
    load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while until and load.poll() is None and not until():
        time.sleep(0.1)
    if until:
        load.send_signal(signal.SIGINT)
    output, _ = load.communicate()
    report = json.loads(output.splitlines()[-1]) if load.returncode == 0 else {}
    if not report or report["errors"] or not report["requests"]:
        raise SystemExit(f"{server.name} failed under load:\n{output}")
    return report


class Load:
    """What one load came to: requests a second, processor time and bytes of an answer, head included."""

    def __init__(self, rate, microseconds, bytes):
        self.rate, self.microseconds, self.bytes = rate, microseconds, bytes

    @staticmethod
    def median(samples):
        return Load(*(statistics.median(vars(sample)[key] for sample in samples)
                      for key in ["rate", "microseconds", "bytes"]))


def fetch(server, path, fields):
    """The coding and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path, headers=fields)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"{server.name} answered {path} with {response.status}")
    return response.headers.get("content-encoding"), body


def response_field(server, path, fields, name):
    """A field of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path, headers=fields)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.headers.get(name)


def advertising(dictionary):
    """RFC 9842 section 2.2."""
    return {"Available-Dictionary": f":{base64.b64encode(hashlib.sha256(dictionary).digest()).decode()}:"}


def request_list(file, requests):
    """Writes a list of requests for many.lua: pairs of a path and fields, sent in turns."""
    lines = ("\t".join([path, *(f"{name}: {value}" for name, value in fields.items())]) for path, fields in requests)
    file.write_text("\n".join(lines) + "\n")
    return file
