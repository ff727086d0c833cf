"""The clients of deploy/CLIENTS.md, made of the page's own text: each is a command that gets a URL with a store."""

import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "deploy/CLIENTS.md"
LINES_MAX = 80
# The page's C must hold for input that is not nice.
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
JARS = ":".join(f"/usr/share/java/{name}.jar" for name in ["okhttp", "okio", "zstd-jni"])
BUILD_SECONDS = 240
# On a busy machine a JVM alone takes long to start.
GET_SECONDS = 120
JUDGE_SECONDS = 1200


def files():
    """The files of the page: a paragraph that begins with the name, and the block below it."""
    found = re.findall(r"^`([\w.]+)`[^\n]*\n\n```\w+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for name, text in found:
        if text.count("\n") > LINES_MAX:
            raise SystemExit(f"clients: {name} has {text.count(chr(10))} lines: expected {LINES_MAX} at most")
    return dict(found)


class Client:
    """One client of the page; `missing` says what it needs on this machine."""

    def __init__(self, name, driver, build=None, command=None, missing=None, knows_wildcards=True, knows_raw=True, starts_fast=True,
                 shows_coding=True):
        self.name, self.driver, self.build, self.command, self.missing = name, driver, build, command, missing
        # Patterns with `*`; dictionaries that look like those of Zstandard's own format.
        self.knows_wildcards, self.knows_raw = knows_wildcards, knows_raw
        # The driver writes Content-Encoding, if there is one, before a body.
        self.shows_coding = shows_coding
        # The judge starts a client some eighty times.
        self.starts_fast = starts_fast

    def prepare(self, folder):
        """Writes the page's files and the driver into a folder, and compiles them."""
        self.folder = folder
        folder.mkdir()
        for name, text in files().items():
            (folder / name).write_text(text, encoding="utf-8")
        shutil.copy(HERE / "drivers" / self.driver, folder)
        if self.build:
            subprocess.run(self.build, cwd=folder, check=True, timeout=BUILD_SECONDS)

    def get(self, store, urls, fields=()):
        """The bodies as the app sees them, one behind the other; each call is a process of its own."""
        words = [*self.command, str(store), *fields, *urls]
        try:
            result = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=GET_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"nothing after {GET_SECONDS} seconds") from None
        if result.returncode:
            raise AssertionError(f"status {result.returncode}: {result.stderr.decode(errors='replace')[-2000:]}")
        return result.stdout


    def judge(self, dictum, folder):
        """The findings of `dictum conformance` about the client, as JSON lines; each user has a store."""
        words = [dictum, "conformance", "--json", "--max-time", str(GET_SECONDS), "--", *self.command, f"{folder}/{{user}}.store"]
        return subprocess.run(words, cwd=self.folder, capture_output=True, timeout=JUDGE_SECONDS, text=True).stdout


def lacking_c():
    if not shutil.which("cc"):
        return "there is no C compiler (gcc)"
    found = subprocess.run(["pkg-config", "--atleast-version=7.83", "libcurl"], capture_output=True)
    return found.returncode and "libcurl 7.83 with headers is missing (libcurl4-openssl-dev)"


def lacking_java():
    if not shutil.which("javac"):
        return "there is no Java compiler (openjdk-17-jdk-headless)"
    missing = [jar for jar in JARS.split(":") if not pathlib.Path(jar).exists()]
    return missing and f"there is no {missing[0]} (libokhttp-java, libzstd-jni-java)"


def clients(python):
    """All clients; `python` has the packages of requirements.txt."""
    libraries = ["-lcurl", "-lzstd", "-lcrypto"]
    return [
        Client("httpx", "httpx_get.py", command=[python, "-B", "httpx_get.py"]),
        Client("requests", "requests_get.py", command=[python, "-B", "requests_get.py"]),
        Client("C", "get.c", ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", *SANITIZERS, "get.c", "-o", "get", *libraries],
               ["./get"], lacking_c, knows_wildcards=False, shows_coding=False),
        Client("OkHttp", "Get.java", ["javac", "-Xlint:all", "-Werror", "-cp", f".:{JARS}", "Get.java"],
               ["java", "-XX:TieredStopAtLevel=1", "-cp", f".:{JARS}", "Get"], lacking_java, knows_raw=False, starts_fast=False),
    ]
