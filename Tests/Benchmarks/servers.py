"""The servers that are compared, each a process of ours with its processor time, on free ports of loopback."""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time
import urllib.request

import history

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Bench:
    """What all comparisons share: a directory, the origin with files, how loads are made, and the servers that run."""

    def __init__(self, directory, binary):
        self.directory, self.binary = directory, binary
        self.origin = self.loads = None
        self.running = []
        # One line per figure that exceeds its threshold.
        self.exceeded = []

    def start(self, make, *rest, **settings):
        """A server of a kind, once it accepts connections."""
        server = make(self.directory, *rest, **settings)
        self.running.append(server)
        server.wait()
        return server

    def stop(self):
        """Stops them all."""
        for server in reversed(self.running):
            server.stop()


class Server:
    """A server that runs in a process group of its own until `stop`; `certificate` is what it speaks TLS with."""

    certificate = None

    @property
    def scheme(self):
        return "https" if self.certificate else "http"

    def __init__(self, name, command, port, log):
        self.name, self.port, self.log = name, port, log
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log.open("wb"), stderr=subprocess.STDOUT,
            start_new_session=True)

    def wait(self, interval=0.02):
        """Returns once the server accepts connections; looks this often, in seconds."""
        for _ in range(int(90 / interval)):
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                # If the server has ended, somebody else listens there.
                if probe.connect_ex(("127.0.0.1", self.port)) == 0 and self.process.poll() is None:
                    return
            time.sleep(interval)
        raise SystemExit(f"{self.name} did not start:\n{self.log.read_text(errors='replace')}")

    def keep_to(self, processors):
        """Runs the server and its workers on these processors alone."""
        for pid in [self.process.pid, *_children(self.process.pid)]:
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), processors)

    def processor_seconds(self):
        """What the server and its workers have used so far, as user and in the kernel."""
        return sum(_processor_seconds(pid) for pid in [self.process.pid, *_children(self.process.pid)])

    def resident_bytes(self):
        """The memory of the server and its workers that is resident."""
        return sum(_resident_bytes(pid) for pid in [self.process.pid, *_children(self.process.pid)])

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass
        # Whatever is left of the group: nginx's workers, should their master have died first.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Origin(Server):
    """nginx with static files: the API. `publish` changes what a path answers.

    All are JSON, but for those whose names end in `.bin`; shared caches may keep them."""

    def __init__(self, directory):
        self.root = directory / "files"
        self.root.mkdir()
        port = free_port()
        server = (f"listen 127.0.0.1:{port} backlog=1024; root {self.root}; default_type application/json;"
                  " types { application/octet-stream bin; } add_header Cache-Control 'public, max-age=600';")
        super().__init__("the origin", _nginx(directory, "origin", f"server {{ {server} }}"), port,
                         directory / "origin.log")

    def publish(self, path, body):
        fresh = self.root / "fresh"
        fresh.write_bytes(body)
        fresh.replace(self.root / path)


class NginxProxy(Server):
    """nginx as a proxy before the origin, with connections kept, in two workers; compressing with gzip if asked to.

    `tls` is the file of a certificate, with its key beside it: TLS with Dictum's order of ciphers then. `http2` takes
    HTTP/2 too on a TLS port, and nothing else on a plain one."""

    def __init__(self, directory, origin, gzip_level=None, tls=None, http2=False):
        name = f"nginx gzip {gzip_level}" if gzip_level else "nginx"
        self.certificate = tls
        speaking, secure = "", ""
        if tls:
            name, speaking = f"{name} {tls.stem}", " ssl"
            secure = (f"ssl_certificate {tls}; ssl_certificate_key {tls.with_suffix('.key')};"
                      " ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on; ssl_ecdh_curve X25519:P-256;"
                      " ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384;")
        if http2:
            name, speaking = f"{name} http2", f"{speaking} http2"
        port = free_port()
        gzip = f"gzip on; gzip_comp_level {gzip_level}; gzip_types application/json; gzip_proxied any;"
        # Each worker keeps as many idle connections as all clients have; Dictum keeps as many as the load has used.
        # The buffers hold a whole response, since nginx writes the rest of larger ones to a file.
        text = f"""
            upstream origin {{ server 127.0.0.1:{origin.port}; keepalive 512; keepalive_requests 100000000; }}
            server {{
                listen 127.0.0.1:{port} backlog=1024{speaking};
                {gzip if gzip_level else ""} {secure}
                location / {{
                    proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
                    proxy_buffers 32 16k; proxy_buffer_size 16k; proxy_busy_buffers_size 32k;
                }}
            }}"""
        file = f"{name.replace(' ', '-')}-{origin.port}"
        super().__init__(name, _nginx(directory, file, text), port, directory / f"{file}.log")


class HAProxy(Server):
    """HAProxy before the origin, with connections kept and shared, in two threads."""

    def __init__(self, directory, origin):
        port = free_port()
        config = directory / "haproxy.cfg"
        config.write_text(f"""
            global
                nbthread 2
                maxconn 4096
            defaults
                mode http
                timeout connect 2s
                timeout client 75s
                timeout server 30s
                http-reuse always
            frontend clients
                bind 127.0.0.1:{port} backlog 1024
                default_backend origin
            backend origin
                server origin 127.0.0.1:{origin.port} pool-max-conn 1024\n""")
        super().__init__("haproxy", ["haproxy", "-db", "-f", str(config)], port, directory / "haproxy.log")


class Generator(Server):
    """nginx that makes its answers from their targets, so that there are as many as anybody asks for.

    `/made/N?v=M` is `made(...)`; with the query `short` it is too short to be coded; `/unique/N` is never the same,
    nor is `/fresh`, a list of 300 KB; `/inbox` is `personal(...)`, by the token of the request; `/plain` is one text
    that says nothing of who may have it."""

    def __init__(self, directory):
        port = free_port()
        # nginx takes at most 4 KB as one word.
        pieces = [f"set $piece{number} '{piece}';" for number, piece in enumerate(_PIECES)]
        large = "".join(f"$piece{number}" for number in range(len(_PIECES)))
        inbox = "".join(f"$inbox{number}" for number in range(len(_INBOX)))
        fresh = "".join(f"$fresh{number}" for number in range(len(_FRESH)))
        text = f"""
            server {{
                listen 127.0.0.1:{port} backlog=1024; default_type application/json;
                {" ".join(f"set $inbox{number} '{piece}';" for number, piece in enumerate(_INBOX))}
                location /inbox {{
                    add_header Cache-Control 'private, max-age=600';
                    return 200 '$http_authorization{inbox}';
                }}
                location /fresh {{
                    add_header Cache-Control 'public, max-age=600';
                    {" ".join(f"set $fresh{number} '{piece}';" for number, piece in enumerate(_FRESH))}
                    return 200 '{{"request":"$request_id","data":{fresh}}}';
                }}
                location /plain {{ add_header Cache-Control 'max-age=600'; return 200 '$http_x_prefix{inbox}'; }}
                add_header Cache-Control 'public, max-age=600';
                {pieces[0]}
                if ($args = short) {{ return 200 '{{}}'; }}
                location /made/ {{ return 200 '{_MADE.format("$uri", "$arg_v", "$piece0")}'; }}
                location /large/ {{
                    {" ".join(pieces[1:])}
                    return 200 '{_MADE.format("$uri", "$arg_v", large)}';
                }}
                location /unique/ {{ return 200 '{_MADE.format("$request_id", "0", "$piece0")}'; }}
            }}"""
        super().__init__("the generator", _nginx(directory, "generator", text), port, directory / "generator.log")

    @staticmethod
    def made(path, version):
        """The body of `/made/…` or `/large/…`."""
        pieces = _PIECES if path.startswith("/large/") else _PIECES[:1]
        return _MADE.format(path, version, "".join(pieces)).encode()

    @staticmethod
    def personal(token):
        """The body of `/inbox` for a token."""
        return (f"Bearer {token}" + "".join(_INBOX)).encode()


_MADE = '{{"path":"{}","version":{},"text":"{}"}}'
# Text of 600 bytes, then pieces of 2 KB that make 50 KB together.
_PIECES = history.pieces([600] + 25 * [1980])
# A list of 11 KB that compresses to a quarter.
_INBOX = re.findall(".{1,1980}", history.one(7, 32).decode())
_FRESH = re.findall(".{1,1980}", history.one(7, 880).decode())


def budgets(contexts=16, **mebibytes):
    """The setting `memory` with these budgets; others have none."""
    mebibytes = {"contexts": contexts, **mebibytes}
    total, names = sum(mebibytes.values()), ["coding", "store", "deltas", "prepared", "sharing", "contexts", "observe"]
    return {"total": f"{total}MiB", **{name: f"{100 * mebibytes.get(name, 0) / total:.4f}%" for name in names}}


class Dictum(Server):
    """The proxy under test, as two loops or as one, without an access log, with its store in memory unless told otherwise.

    `tls` is the file of a certificate, with its key beside it."""

    def __init__(self, directory, origin, binary, name="dictum", store=None, routes=None, compression=None,
                 listeners=(), tls=None, loops=2, descriptors=None, **others):
        self.admin_port = free_port()
        port = free_port()
        self.certificate = tls
        secure = {"tls": {"certificate": str(tls), "private_key": str(tls.with_suffix(".key"))}} if tls else {}
        settings = {
            "listeners": [{"address": f"127.0.0.1:{port}", **secure}, *listeners],
            "upstream": {"urls": [f"http://127.0.0.1:{origin.port}"]},
            "store": {"path": ":memory:", **(store or {})},
            "compression": compression or {},
            "admin": {"address": f"127.0.0.1:{self.admin_port}"},
            "log": {"access": False},
            **({"routes": routes} if routes else {}),
            **others,
        }
        self.settings, self.config = settings, directory / f"{name}.yaml"
        # YAML 1.2 holds JSON.
        self.config.write_text(json.dumps(settings))
        # There is a loop for each processor that the process may use.
        only = ["taskset", "-c", "0"] if loops == 1 else []
        if descriptors:
            only += ["prlimit", f"--nofile={descriptors}:{descriptors}"]
        super().__init__(name, [*only, binary, "serve", "--config", str(self.config)], port, directory / f"{name}.log")

    def metric(self, name, label=""):
        """The sum of a metric over its lines that contain a label."""
        address = f"http://127.0.0.1:{self.admin_port}/metrics"
        with urllib.request.urlopen(address, timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        values = [float(line.rpartition(" ")[2]) for line in lines
                  if line.startswith((name + "{", name + " ")) and label in line]
        if not values:
            raise SystemExit(f"{self.name} has no metric {name} {label}")
        return sum(values)

    def descriptors(self):
        """How many descriptors the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def _nginx(directory, name, server):
    config = directory / f"{name}.conf"
    temporary = " ".join(
        f"{kind}_temp_path {directory}/{name}-{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(
        f"daemon off; worker_processes 2; pid {directory}/{name}.pid; error_log stderr; {user}\n"
        "events { worker_connections 4096; }\n"
        f"http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; {temporary}\n{server}\n}}\n")
    return ["nginx", "-e", "stderr", "-p", str(directory), "-c", str(config)]


@contextlib.contextmanager
def apart(measured, others):
    """Gives the measured servers one processor, and the others the rest, which the load gets as well: as on machines of
    their own, what the load and the origin cost is not taken from the server. Yields the rest."""
    every = os.sched_getaffinity(0)
    one = {min(every)}
    rest = every - one or one
    for server in measured:
        server.keep_to(one)
    for server in others:
        server.keep_to(rest)
    try:
        yield rest
    finally:
        for server in [*measured, *others]:
            server.keep_to(every)


def free_port():
    """A port of loopback on which nobody listens now, and which the kernel gives to nobody who asks for any port: not even
    to a connection, before the server that the port is for has it."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.SystemRandom().sample(range(max(first // 2, 1024), max(first, 2048)), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise SystemExit("no port is free on loopback")


def _children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _resident_bytes(pid):
    fields = pathlib.Path(f"/proc/{pid}/status").read_text().split()
    return int(fields[fields.index("VmRSS:") + 1]) * 1024


def _processor_seconds(pid):
    # The fields behind the name, which is in brackets and may hold blanks; utime and stime are fields 14 and 15.
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
