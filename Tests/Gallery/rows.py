"""The rows of the gallery: which application, asked how, and what is expected of it."""

import collections
import dataclasses
import http.client
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading
import time

import browser
from client import Client, Wrong

APPLICATIONS = pathlib.Path(__file__).resolve().parent / "applications"
# Enough for three tokens of a bearer.
REQUESTS = 7
START_SECONDS = 60
USERS = ["alice", "bob"]
# A delta of a slowly changing body must be at most this share of the size with gzip -6.
SHARE_OF_GZIP = 0.15
# A browser needs some time after the first visit until it uses what it keeps.
SHARE_LOGGED_IN = 0.6


@dataclasses.dataclass
class Row:
    """One resource asked by one kind of client; what it awaits is missing so far, and then deltas are not expected."""

    application: str
    title: str
    paths: list
    client: str = "anonymous"
    login: str = ""
    # The content of a POST, or that for each path.
    body: str | dict = ""
    is_slow: bool = True
    awaits: str = ""


NO_STORE = "store_despite, as the log says"
TEMPLATE = "a template for hashed names"
OPERATIONS = {
    "/?op=Products": '{"operationName": "Products", "query": "query Products {products{id name description price stock}}"}',
    "/?op=Featured": '{"operationName": "Featured", "query": "query Featured {featured{id sku name description tags}}"}',
    "/?op=Inbox": '{"operationName": "Inbox", "query": "query Inbox {inbox{id secret note}}"}',
}
# The routes of applications that need some.
ROUTES = {
    "graphql_shop":
        '[{match: "/*", dictionary: {methods: [GET, QUERY, POST], key: [op], cache_control: "private, max-age=600"}}]',
}
ROWS = [
    Row("django_rest", "Django JsonResponse", ["/plain"]),
    Row("django_rest", "Django JsonResponse", ["/plain"], "analytics"),
    Row("django_rest", "Django view that touches the session", ["/session"]),
    Row("django_rest", "Django view that touches the session", ["/session"], "session", "/login?user="),
    Row("django_rest", "Django view that touches the session", ["/session"], "mixed", "/login?user="),
    Row("django_rest", "Django page with a CSRF cookie", ["/page"]),
    Row("django_rest", "REST framework, list", ["/api/everything"]),
    Row("django_rest", "REST framework, list", ["/api/everything"], "analytics"),
    Row("django_rest", "REST framework, ?page=", ["/api/products?page=1", "/api/products?page=2"], is_slow=False),
    Row("django_rest", "REST framework, inbox", ["/api/inbox"], "bearer"),
    Row("django_rest", "REST framework, inbox", ["/api/inbox"], "two users", "/login?user="),
    Row("django_rest", "Chromium, logged in, Django session", ["/session"], "browser", "session", is_slow=False),
    Row("django_rest", "Chromium, logged in, REST inbox", ["/api/inbox"], "browser", "session", is_slow=False),
    Row("flask_sessions", "Flask jsonify", ["/products"]),
    Row("flask_sessions", "Flask jsonify", ["/products"], "bearer"),
    Row("flask_sessions", "Flask inbox", ["/inbox"], "session", "/login?user="),
    Row("flask_sessions", "Flask inbox", ["/inbox"], "two users", "/login?user="),
    Row("flask_sessions", "Flask page, rolling session", ["/rolling"], "session", "/login?user="),
    Row("fastapi_events", "FastAPI list", ["/products"]),
    Row("fastapi_events", "FastAPI inbox", ["/inbox"], "bearer"),
    Row("fastapi_events", "FastAPI inbox", ["/inbox"], "two bearers"),
    Row("fastapi_events", "server-sent events", ["/events"], "events"),
    Row("fastapi_events", "Chromium, fetch of max-age=3600", ["/fresh"], "browser"),
    Row("fastapi_events", "Chromium, fetch of private, max-age=600", ["/own"], "browser"),
    Row("fastapi_events", "Chromium, logged in, FastAPI inbox", ["/inbox"], "browser", "bearer", is_slow=False),
    Row("fastapi_events", "Chromium, logged in, fields of Rails", ["/rails"], "browser", "bearer", is_slow=False),
    Row("datasette_tables", "datasette JSON", ["/catalogue/product.json"]),
    # To a request with any cookie datasette says `private, no-store`.
    Row("datasette_tables", "datasette JSON", ["/catalogue/product.json"], "analytics", awaits=NO_STORE),
    Row("datasette_tables", "datasette HTML", ["/catalogue/product"]),
    Row("datasette_tables", "datasette HTML", ["/catalogue/product"], "analytics", awaits=NO_STORE),
    Row("tornado_etags", "Tornado, ETag and its own gzip", ["/products"]),
    Row("tornado_etags", "Tornado inbox", ["/inbox"], "session", "/login?user="),
    Row("tornado_etags", "Tornado inbox", ["/inbox"], "bearer"),
    Row("tornado_etags", "Tornado page with an XSRF cookie", ["/page"]),
    Row("starlette_rolling", "Starlette, a session that rolls", ["/products"]),
    Row("starlette_rolling", "Starlette inbox", ["/inbox"], "two users", "/login?user="),
    Row("starlette_rolling", "Starlette inbox", ["/inbox"], "two bearers"),
    Row("starlette_rolling", "gzip whatever is accepted", ["/packed"]),
    Row("starlette_rolling", "Vary: Accept-Language, Origin", ["/localized"], "analytics"),
    Row("graphql_shop", "GraphQL by GET", ["/?query=%7Bproducts%7Bid%20name%20description%20price%20stock%7D%7D"]),
    Row("graphql_shop", "GraphQL by POST", ["/"], body='{"query": "{products{id name description price stock}}"}'),
    Row("graphql_shop", "GraphQL, three operations by POST", list(OPERATIONS), "bearer", body=OPERATIONS, is_slow=False),
    Row("graphql_shop", "GraphQL, three operations by POST", list(OPERATIONS), "two bearers", body=OPERATIONS, is_slow=False),
    Row("graphql_shop", "GraphQL inbox by GET", ["/?query=%7Binbox%7Bid%20secret%20note%7D%7D"], "bearer"),
    Row("graphql_shop", "GraphQL inbox by GET", ["/?query=%7Binbox%7Bid%20secret%20note%7D%7D"], "two bearers"),
    Row("static_bundles", "hashed bundles", ["bundle"], awaits=TEMPLATE),
    Row("prometheus_api", "Prometheus, metadata", ["/api/v1/metadata"]),
    Row("prometheus_api", "Prometheus, its metrics", ["/metrics"], is_slow=False),
]


def run(folder, dictum, python, only):
    """Prints a line a row; returns how many failed."""
    if only and only not in {row.application for row in ROWS}:
        raise SystemExit(f"gallery: unknown application {only}")
    print(f"{'application':38} {'client':12} {'deltas':>7} {'bytes':>8} {'gzip -6':>8} {'share':>6}", flush=True)
    failures = 0
    for application in dict.fromkeys(row.application for row in ROWS):
        if only in [None, application]:
            failures += run_application(application, folder / application, dictum, python)
    return failures


def run_application(name, folder, dictum, python):
    rows = [row for row in ROWS if row.application == name]
    if name == "prometheus_api" and not shutil.which("prometheus"):
        print(f"{'Prometheus':38} skipped: the package prometheus is not installed", flush=True)
        return 0
    folder.mkdir()
    (folder / "tick").write_text("0", encoding="ascii")
    with Server(name, folder, python) as server, Dictum(dictum, folder, server.url, ROUTES.get(name)) as proxy:
        return sum(not Trial(row, folder, proxy).run() for row in rows)


class Process:
    """A program that is started, says its URL, and ends with this object."""

    def __init__(self, arguments, folder, name, environment=None):
        self.errors = folder / f"{name}.log"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                arguments, cwd=folder if name == "dictum" else APPLICATIONS, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if name != "dictum" else errors, stderr=errors,
                env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self):
        return self.errors.read_text(encoding="utf-8", errors="replace")


class Server(Process):
    """An application of the gallery."""

    def __init__(self, name, folder, python):
        super().__init__([python, "-B", f"{name}.py"], folder, name, {"GALLERY_TICK": str(folder / "tick")})
        lines = queue.Queue()
        threading.Thread(target=lambda: lines.put(self.process.stdout.readline()), daemon=True).start()
        try:
            self.url = lines.get(timeout=START_SECONDS).decode().strip()
        except queue.Empty:
            self.url = ""
        if not self.url:
            self.__exit__()
            raise SystemExit(f"gallery: {name} does not start:\n{self.log()[-2000:]}")


class Dictum(Process):
    """Dictum before an application, without a configuration unless it needs routes."""

    def __init__(self, dictum, folder, upstream, routes):
        arguments = ["--upstream", upstream, "--listen", "127.0.0.1:0", "--store", str(folder / "store.sqlite")]
        if routes:
            (folder / "dictum.yaml").write_text(
                f"""
                upstream: {{urls: ["{upstream}"]}}
                listeners: [{{address: "127.0.0.1:0"}}]
                admin: {{address: "127.0.0.1:0"}}
                store: {{path: "{folder / "store.sqlite"}"}}
                routes: {routes}
                """, encoding="utf-8")
            arguments = ["--config", str(folder / "dictum.yaml")]
        super().__init__([dictum, "serve", *arguments], folder, "dictum")
        deadline = time.monotonic() + START_SECONDS
        while not (found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", self.log())):
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.__exit__()
                raise SystemExit(f"gallery: dictum does not start:\n{self.log()[-2000:]}")
            time.sleep(0.01)
        self.port = int(found.group(1))

    def reasons(self, since):
        """How often each reason stands in the access log behind an offset."""
        found = re.findall(r'"reason":"([^"]+)"', self.log()[since:])
        return collections.Counter(found)


class Trial:
    """What comes of one row."""

    def __init__(self, row, folder, proxy):
        self.row = row
        self.proxy = proxy
        self.tick = folder / "tick"
        self.folder = folder
        self.deltas = self.later = self.bytes = self.gzip_bytes = 0

    def run(self):
        row, since = self.row, len(self.proxy.log())
        try:
            getattr(self, row.client.replace(" ", "_"))()
        except (Wrong, OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
            return self.report(f"FAILED: {type(error).__name__}: {error}", False)
        if row.client == "events":
            return self.report("every event as it was sent", True)
        share = self.deltas / max(self.later, 1)
        ratio = self.bytes / max(self.gzip_bytes, 1)
        isEnough = share >= (SHARE_LOGGED_IN if row.client == "browser" and row.login else 1) and (not row.is_slow or ratio <= SHARE_OF_GZIP)
        if isEnough:
            return self.report(f"now works; it awaited {row.awaits}" if row.awaits else "", True)
        # The log is written in batches of 100 ms.
        time.sleep(0.2)
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.proxy.reasons(since).most_common(3))
        if row.awaits == NO_STORE and "say no-store" not in self.proxy.log():
            return self.report("FAILED: the log does not name no-store", False)
        if row.awaits:
            return self.report(f"awaits {row.awaits} ({reasons})", True)
        return self.report(f"FAILED: too few deltas, or too large ({reasons})", False)

    def report(self, text, is_fine):
        row = self.row
        ratio = f"{self.bytes / self.gzip_bytes:6.1%}" if self.gzip_bytes else ""
        print(f"{row.title:38} {row.client:12} {self.deltas:3}/{self.later:<3} {self.bytes:8} {self.gzip_bytes:8} {ratio:>6}"
              f" {text}", flush=True)
        return is_fine

    # MARK: The clients

    def anonymous(self):
        client = Client(self.proxy.port)
        for number in range(REQUESTS):
            self.ask(client, number)

    def analytics(self):
        client = Client(self.proxy.port)
        client.cookies = {"_ga": "GA1.1.1234567890.1700000000", "_fbp": "fb.1.1700000000000.123456789"}
        for number in range(REQUESTS):
            client.cookies["_ga_AB12CD34EF"] = f"GS1.1.1700000000.{number}.1.170000000{number}.0.0.0"
            self.ask(client, number)

    def session(self):
        client = Client(self.proxy.port)
        self.log_in(client, USERS[0])
        for number in range(REQUESTS):
            self.ask(client, number, USERS[0])

    def bearer(self):
        client = Client(self.proxy.port)
        for number in range(REQUESTS):
            self.ask(client, number, USERS[0], bearer(USERS[0], number))

    def two_users(self):
        """By turns on one connection, as behind a gateway."""
        first = Client(self.proxy.port)
        clients = [first, Client(self.proxy.port, first.connection)]
        for client, user in zip(clients, USERS):
            self.log_in(client, user)
        for number in range(REQUESTS):
            for client, user in zip(clients, USERS):
                self.ask(client, number, user)

    def mixed(self):
        """Two users and somebody without a login, by turns on one connection."""
        first = Client(self.proxy.port)
        clients = [first, *(Client(self.proxy.port, first.connection) for _ in USERS)]
        for client, user in zip(clients, USERS):
            self.log_in(client, user)
        for number in range(REQUESTS):
            for client, user in zip(clients, [*USERS, None]):
                self.ask(client, number, user)

    def two_bearers(self):
        first = Client(self.proxy.port)
        clients = [first, Client(self.proxy.port, first.connection)]
        for number in range(REQUESTS):
            for client, user in zip(clients, USERS):
                self.ask(client, number, user, bearer(user, number))

    def events(self):
        client = Client(self.proxy.port)
        response = client.fetch(self.row.paths[0])
        lines = response.body.decode().splitlines()
        events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
        if [event["id"] for event in events] != [1000, 1001, 1002, 1003, 1004] or response.is_delta:
            raise Wrong("the events are not those that were sent")

    def browser(self):
        for coding, coded_bytes, size, is_exact in browser.visit(
                self.proxy.port, self.row.paths[0], self.folder, self.row.login):
            if not is_exact:
                raise Wrong("the page got another body than the application sent")
            self.later += 1
            self.deltas += coding in ["dcb", "dcz"]
            self.bytes += coded_bytes
            self.gzip_bytes += size

    # MARK: One request

    def log_in(self, client, user):
        if client.fetch(self.row.login + user).status != 204:
            raise Wrong("the login failed")

    def ask(self, client, number, user=None, fields=()):
        # Before every request something changes.
        self.tick.write_text(str(int(self.tick.read_text(encoding="ascii")) + 1), encoding="ascii")
        row = self.row
        path = row.paths[number % len(row.paths)]
        if path == "bundle":
            path = re.search(r'src="([^"]+)"', client.fetch("/").body.decode()).group(1)
        # Both codings, by turns.
        codings = "gzip, br, zstd, " + ["dcz", "dcb"][number % 2]
        fields = {**dict(fields), "Content-Type": "application/json"} if row.body else fields
        body = row.body[path] if isinstance(row.body, dict) else row.body
        response = client.fetch(path, fields, codings, body or None)
        if response.status != 200:
            raise Wrong(f"status {response.status}")
        for other in USERS:
            if other != user and f"{other}-".encode() in response.body:
                raise Wrong(f"{user or 'an anonymous client'} got a line of {other}")
        # The first response to each operation is new.
        if number >= (len(row.paths) if isinstance(row.body, dict) else 1):
            self.later += 1
            self.deltas += response.is_delta
            self.bytes += response.coded_bytes
            self.gzip_bytes += response.gzip_bytes


def bearer(user, number):
    """A token that is another one on every third request."""
    return {"Authorization": f"Bearer {user}.{number // 3:08x}"}
