"""The program in Swift of the page, which polls a feed as a user of an app, and one that gets a URL, for the judge."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import page
from scenarios import check

ROOT = page.HERE.parent.parent
# SwiftNIO is built from nothing.
BUILD_SECONDS = 3000
LINE_SECONDS = 60
# A second program of the page's package.
DRIVER = """        .executableTarget(
            name: "get", dependencies: [.product(name: "DictumClient", package: "dictum")], path: "driver"),
"""


# What the page's package depends on.
BESIDE = '.package(path: "../dictum", '


def build(folder):
    """Builds the page's text and the driver in a folder that stays, so that SwiftNIO is built once; returns the programs."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = page.files()
    targets = "    targets: [\n"
    check(targets in texts["Package.swift"], "the page's Package.swift has no targets")
    check(BESIDE in texts["Package.swift"], "the page's Package.swift does not depend on the folder beside it")
    url, version = released(folder.parent / "released/dictum")
    texts["Package.swift"] = texts["Package.swift"].replace(targets, targets + DRIVER).replace(
        BESIDE, f'.package(url: "{url}", exact: "{version}", ')
    for name in ["Package.swift", "main.swift"]:
        (folder / name).write_text(texts[name], encoding="utf-8")
    (folder / "driver").mkdir(exist_ok=True)
    shutil.copy(page.HERE / "drivers/get.swift", folder / "driver/main.swift")
    subprocess.run(["swift", "build", "--quiet"], cwd=folder, check=True, timeout=BUILD_SECONDS)
    return folder / ".build/debug/feed", folder / ".build/debug/get"


def released(folder):
    """Makes a repository of this one's files with a tag, as an app depends on it: SwiftPM then refuses targets with unsafe flags.

    Each run has a version of its own, since a version may not change."""
    def git(*words, **options):
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True, **options).stdout

    version = f"1.0.{int(time.time())}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in git("ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git("init", "--quiet", cwd=folder)
    git("add", "--all", cwd=folder)
    git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message", version, cwd=folder)
    git("tag", version, cwd=folder)
    return folder.resolve().as_uri(), version


class PollingApp:
    """Runs of the program behind Dictum; each `test_` is a scenario."""

    def __init__(self, program, folder, feed, relay):
        self.program, self.folder, self.feed, self.relay = program, folder, feed, relay

    def poll(self, user, path, count, kill=signal.SIGTERM):
        """Polls until there are so many bodies, each compared with the feed's; returns the lines that the program printed."""
        self.relay.take()
        place = self.folder / "app"
        place.mkdir(exist_ok=True)
        process = subprocess.Popen([self.program, user, self.relay.url + path], cwd=place, stdout=subprocess.PIPE, text=True)
        lines = []
        try:
            while sum(": " in line and " in place of " in line for line in lines) < count:
                line = self._line(process)
                lines.append(line)
                if " in place of " in line:
                    self._compare(place / f"{user}.json", f"Bearer {user}")
        finally:
            process.send_signal(kill)
            process.wait()
        return lines

    def _line(self, process):
        line = process.stdout.readline()
        check(line, f"the program ended with {process.poll()}")
        return line.strip()

    def _compare(self, file, user):
        """Waits for the body that the app shows, then changes the feed."""
        end = time.monotonic() + LINE_SECONDS
        while not file.exists() or file.read_bytes() != self.feed.body(user):
            check(time.monotonic() < end, "the app shows another body than the feed's")
            time.sleep(0.01)
        self.feed.version += 1

    @staticmethod
    def codings(lines):
        return [re.match(r"(\S+): \d+ bytes in place of", line)[1] for line in lines if " in place of " in line]

    def test_deltas_from_the_second_response_on_also_after_a_restart_and_kill_9(self):
        codings = self.codings(self.poll("alice", "/own", 3, signal.SIGKILL))
        check(codings[0] != "dcz" and codings[1:] == ["dcz", "dcz"], f"no deltas: {codings}")
        check(self.codings(self.poll("alice", "/own", 2)) == ["dcz", "dcz"], "no deltas after SIGKILL")
        check(self.codings(self.poll("alice", "/own", 1)) == ["dcz"], "no delta after a restart")

    def test_two_users_never_share(self):
        self.poll("carol", "/own", 1)
        self.poll("dave", "/own", 1)
        check(not self.relay.take()[0].advertised, "a dictionary of another user is advertised")
        check(self.codings(self.poll("carol", "/own", 1)) == ["dcz"], "the user's own dictionary is gone")

    def test_a_corrupted_dictionary_costs_one_retry_and_no_error(self):
        self.poll("eve", "/own", 1)
        self.relay.spoils = {"/own": lambda body: body[:-1] + bytes([body[-1] ^ 1])}
        lines = self.poll("eve", "/own", 1)
        check(any("dictionaryDropped" in line for line in lines), f"the app was not told: {lines}")
        check([bool(exchange.advertised) for exchange in self.relay.take()][:2] == [True, False], "no retry without a dictionary")

    def test_a_damaged_file_of_the_store_costs_one_whole_response_and_no_error(self):
        self.poll("frank", "/own", 1)
        for file in (self.folder / "app").rglob("*.dictum.body"):
            body = file.read_bytes()
            file.write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
        codings = self.codings(self.poll("frank", "/own", 2))
        check(codings[0] != "dcz" and codings[1] == "dcz", f"expected one whole response and then a delta: {codings}")


class OneFetch:
    """Runs of the program that gets one URL; each `test_` is a scenario."""

    SECONDS = 2
    # Pieces of a byte, and what the program may take for all of them.
    PIECES = 400_000
    MEMORY_MAX = 128 << 20

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def fails_in_time(self, pause):
        """Gets a body of which a byte comes after each pause, and which does not end for a minute."""
        def serve():
            connection, _ = listener.accept()
            try:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                end = time.monotonic() + LINE_SECONDS
                while time.monotonic() < end:
                    connection.sendall(b"x")
                    time.sleep(pause)
            except OSError:
                pass  # the client has given up
            finally:
                connection.close()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/feed"
            words = [self.program, self.folder / "slow", url, str(self.SECONDS)]
            try:
                result = subprocess.run(words, capture_output=True, timeout=LINE_SECONDS / 2)
            except subprocess.TimeoutExpired:
                raise AssertionError("the program still waits") from None
        check(result.returncode == 1 and b"deadlineExceeded" in result.stderr, f"status {result.returncode}: {result.stderr}")

    def test_a_body_of_many_pieces_takes_no_memory_for_each(self):
        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.sendall(b"1\r\nx\r\n" * self.PIECES + b"0\r\n\r\n")

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/feed"
            words = [self.program, self.folder / "pieces", url, "300"]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        check(status == 0, f"status {status}")
        check(usage.ru_maxrss << 10 < self.MEMORY_MAX, f"{usage.ru_maxrss} KiB for {self.PIECES} pieces")

    def test_a_body_that_stalls_is_an_error_at_the_time_out(self):
        self.fails_in_time(LINE_SECONDS)

    def test_a_body_that_drips_is_an_error_at_the_time_out(self):
        self.fails_in_time(0.1)
