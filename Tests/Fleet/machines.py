"""What runs at the places: Redis or Valkey, and the nodes of the fleet."""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

PORT, ADMIN_PORT, REDIS_PORT = 80, 9090, 6379
ROUTES = [
    {"match": "/fresh/*", "dictionary": {"revalidate": True}},
    {"match": "/*", "dictionary": {"delivery": "in_band"}},
]


class Redis:
    """A redis-server that keeps nothing on disk except what a case saves."""

    def __init__(self, place, directory, program="redis-server"):
        self.place, self.directory, self.program = place, directory, program
        self.process = None

    def start(self):
        command = [
            self.program, "--bind", self.place.address, "--port", REDIS_PORT, "--protected-mode", "no", "--save", "",
            "--dir", self.directory, "--dbfilename", "dump.rdb", "--maxmemory", "256mb", "--maxmemory-policy", "allkeys-lru"]
        self.process = self.place.start(command, self.directory / "redis.log")
        _until(lambda: self.ask("PING") == "PONG", "Redis")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, *words):
        """What redis-cli prints for a command."""
        command = ["redis-cli", "-h", self.place.address, "-p", REDIS_PORT, *words]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True).stdout.strip()

    def calls(self):
        """The number of commands that clients have sent, without those that wait for news."""
        stats = re.findall(r"cmdstat_([a-z|]+):calls=(\d+)", self.ask("INFO", "commandstats"))
        return sum(int(count) for name, count in stats if name not in ("xread", "info"))

    def used_bytes(self):
        return int(re.search(r"used_memory:(\d+)", self.ask("INFO", "memory"))[1])

    def versions(self):
        """The keys of stored versions."""
        return [key for key in self.ask("--scan").split() if ":v:" in key]


class Node:
    """A Dictum at a place, with a store of its own."""

    def __init__(self, place, origin_url, directory, binary, shared):
        self.place, self.binary = place, binary
        self.directory = directory / f"node{place.number}"
        self.directory.mkdir()
        key = directory / "fleet.key"
        self.config, self.log = self.directory / "dictum.yaml", self.directory / "dictum.log"
        self.settings = {
            "listeners": [{"address": f"{place.address}:{PORT}"}],
            "upstream": {"urls": [origin_url]},
            "routes": ROUTES,
            "store": {"path": str(self.directory / "dictum.sqlite"), "key_file": str(self.directory / "dictum.key"),
                      **({"shared": shared} if shared else {})},
            "admin": {"address": f"127.0.0.1:{ADMIN_PORT}"},
            "log": {"access": False, "format": "json"},
            "explain": True, "trusted_proxies": ["unix"], "secure_transport": "assume",
        }
        if key.exists():
            shutil.copy(key, self.directory / "dictum.key")
        self.config.write_text(json.dumps(self.settings))
        self.shared_key, self.process = key, None

    def start(self):
        self.process = self.place.start([self.binary, "serve", "--config", self.config], self.log)
        _until(self._accepts, f"node {self.place.number}", self.log)
        if not self.shared_key.exists():
            # The first node makes the key; the others get copies.
            shutil.copy(self.directory / "dictum.key", self.shared_key)

    def _accepts(self):
        with socket.socket() as probe:
            return probe.connect_ex((self.place.address, PORT)) == 0

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.is_running:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()

    def metric(self, name, label=""):
        """The sum of a metric over its lines that contain a label."""
        command = [*self.place.prefix, "curl", "-s", "-m", "10", f"http://127.0.0.1:{ADMIN_PORT}/metrics"]
        text = subprocess.run(command, capture_output=True, text=True).stdout
        values = re.findall(rf"^{name}(\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
        return sum(float(value) for labels, value in values if label in labels)

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


def _until(condition, what, log=None, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise SystemExit(f"fleet: {what} did not start\n{log.read_text(errors='replace')[-2000:] if log else ''}")
