"""The Dictum under soak: its settings, their variants, and what it takes of the machine."""

import copy
import json
import signal
import subprocess

import servers

STORE = {"max_size": "64MiB"}
MEMORY = servers.budgets(store=24, coding=64, prepared=16, deltas=8)
ROUTES = [
    {"match": "/page/*", "dictionary": {"delivery": "link"}},
    {"match": "/mine/*", "dictionary": {"scope": "private", "identity": ["authorization"]}},
    {"match": "/fresh/*", "dictionary": {"revalidate": True}},
    {"match": "/fault/*", "dictionary": False},
    {"match": "/echo", "dictionary": False},
    {"match": "/*", "dictionary": {"delivery": "in_band"}},
]
# Short enough to cut off slow clients and upstreams many times in a run, and long enough for a busy machine.
TIMES = {
    "upstream": {"response_timeout": "10s", "idle_timeout": "15s"},
    "limits": {"head_timeout": "5s", "connections": 2000},
}


class Proxy(servers.Dictum):
    """A Dictum with a plain and a TLS listener before an origin."""

    def __init__(self, directory, origin, binary, name="soak", store=None):
        self.tls_port = servers.free_port()
        self.authority = str(directory / "tls.pem")
        self.number = 0
        _certify(directory)
        tls = {"certificate": self.authority, "private_key": str(directory / "tls.key")}
        super().__init__(
            directory, origin, binary, name, store or {"path": str(directory / "soak.sqlite"), **STORE}, ROUTES,
            memory=MEMORY, listeners=[{"address": f"127.0.0.1:{self.tls_port}", "tls": tls}],
            limits=TIMES["limits"], log={"access": False, "format": "json"},
            upstream={"urls": [f"http://127.0.0.1:{origin.port}"], **TIMES["upstream"]})

    def variants(self):
        """Settings that are all right, each a little different."""
        other, third = copy.deepcopy(self.settings), copy.deepcopy(self.settings)
        other["compression"]["codings"] = ["dcb", "dcz", "br", "zstd", "gzip"]
        other["upstream"]["keepalive"] = 4
        other["limits"]["head_timeout"] = "8s"
        third["routes"][-1]["dictionary"]["max_age"] = "1h"
        third["compression"]["min_size"] = "1KiB"
        return [other, third, self.settings]

    def reload(self):
        """Has the next settings read, each second time wrong ones; returns the result that is due."""
        number, self.number = self.number, self.number + 1
        if number % 2:
            wrong = {"upstream": {"urls": ["nowhere"], "patience": 5}}
            self.config.write_text(["{routes: [", json.dumps(wrong)][number // 2 % 2])
        else:
            variants = self.variants()
            self.config.write_text(json.dumps(variants[number // 2 % len(variants)]))
        self.process.send_signal(signal.SIGHUP)
        return "refused" if number % 2 else "done"

    def complaints(self):
        """The lines of the log that are warnings or worse, and not those of the wrong settings."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if not _is_harmless(line) and str(self.config) not in line]


def _is_harmless(line):
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    # Expected warnings: the location of the key of private routes, and an upstream that fails as it was told to.
    expected = ("keeping the current one", "the key file", "failed 3 times in a row", "this warning comes at most once a minute")
    return entry.get("level") in ("info", "debug") or any(words in entry.get("message", "") for words in expected)


def _certify(directory):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=soak.test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "tls.key", "-out", "tls.pem"],
        cwd=directory, check=True, capture_output=True)
