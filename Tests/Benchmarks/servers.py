"""The servers that are compared, each a process of ours with its processor time, on free ports of loopback."""

import os
import pathlib
import signal
import socket
import subprocess
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Server:
    """A server that runs in a process group of its own until `stop`."""

    def __init__(self, name, command, port, log):
        self.name, self.port, self.log = name, port, log
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log.open("wb"), stderr=subprocess.STDOUT,
            start_new_session=True)

    def wait(self):
        """Returns once the server accepts connections."""
        for _ in range(500):
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise SystemExit(f"{self.name} did not start:\n{self.log.read_text(errors='replace')}")

    def processor_seconds(self):
        """What the server and its workers have used so far, as user and in the kernel."""
        return sum(_processor_seconds(pid) for pid in [self.process.pid, *_children(self.process.pid)])

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
    """nginx with static files: the API. `publish` changes what a path answers."""

    def __init__(self, directory):
        self.root = directory / "files"
        self.root.mkdir()
        port = _free_port()
        server = f"listen 127.0.0.1:{port} backlog=1024; root {self.root}; default_type application/json;"
        super().__init__("the origin", _nginx(directory, "origin", f"server {{ {server} }}"), port,
                         directory / "origin.log")

    def publish(self, path, body):
        fresh = self.root / "fresh"
        fresh.write_bytes(body)
        fresh.replace(self.root / path)


class NginxProxy(Server):
    """nginx as a proxy before the origin, with connections kept, in two workers; compressing with gzip if asked to."""

    def __init__(self, directory, origin, gzip_level=None):
        name = f"nginx gzip {gzip_level}" if gzip_level else "nginx"
        port = _free_port()
        gzip = f"gzip on; gzip_comp_level {gzip_level}; gzip_types application/json; gzip_proxied any;"
        # Buffers for the whole of an answer: by default nginx would write what does not fit to a file.
        text = f"""
            upstream origin {{ server 127.0.0.1:{origin.port}; keepalive 256; keepalive_requests 100000000; }}
            server {{
                listen 127.0.0.1:{port} backlog=1024;
                {gzip if gzip_level else ""}
                location / {{
                    proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
                    proxy_buffers 32 16k; proxy_buffer_size 16k; proxy_busy_buffers_size 32k;
                }}
            }}"""
        file = name.replace(" ", "-")
        super().__init__(name, _nginx(directory, file, text), port, directory / f"{file}.log")


class Dictum(Server):
    """The proxy under test, as two loops, without an access log, with its store in memory."""

    def __init__(self, directory, origin, binary):
        port = _free_port()
        config = directory / "dictum.yaml"
        config.write_text(
            f"listeners:\n  - address: 127.0.0.1:{port}\n"
            f"upstream:\n  urls: [\"http://127.0.0.1:{origin.port}\"]\n"
            "store:\n  path: \":memory:\"\nadmin: off\nlog:\n  access: false\n")
        super().__init__("dictum", [binary, "serve", "--config", str(config)], port, directory / "dictum.log")


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


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _processor_seconds(pid):
    # The fields behind the name, which is in brackets and may hold blanks; utime and stime are fields 14 and 15.
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
