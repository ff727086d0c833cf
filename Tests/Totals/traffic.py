"""Mixed requests, and what their clients received. The seed decides which request comes next."""

import asyncio
import base64
import hashlib
import random

import origin
from clients import HTTP1, HTTP2, Received

FEEDS = 12
CODINGS = ["gzip", "br", "zstd", "identity", "gzip, br, zstd"]
STATUSES = [200, 201, 204, 301, 404, 410, 500, 503]
BODY_LIMIT = 200_000
# Of a thousand requests.
KINDS = {
    "delta": 330, "feed": 200, "not_modified": 80, "head": 60, "range": 50, "upload": 90, "status": 70, "refused": 40,
    "old": 20, "broken": 27, "stalled": 3, "abort": 20, "malformed": 10,
}


class Traffic:
    """`received` has what came of each request by its id; `nameless` what came of bytes that are no request.

    With several ports each request goes to any of them."""

    def __init__(self, upstream, seed, *ports):
        self.ports, self.upstream = ports, upstream
        self.random = random.Random(seed)
        self.received, self.nameless = {}, []
        self.started = 0

    async def run(self, count, workers=24):
        """Sends so many requests."""
        end = self.started + count
        await asyncio.gather(*(self._work(end, number) for number in range(workers)))

    async def _work(self, end, number):
        worker = Worker(self, f"203.0.113.{number}")
        while self.started < end:
            self.started += 1
            number = self.started
            kind = self.random.choices(list(KINDS), KINDS.values())[0]
            received = await getattr(worker, kind)(("X-Request-ID", f"r{number}"))
            if received is None:
                self.received[f"r{number}"] = worker.last
            else:
                self.nameless.append(received)
        worker.close()


class Worker:
    """A client with a connection of each protocol to each port, behind a proxy that names its address; each kind of request
    is a method, which leaves the response in `last`."""

    def __init__(self, traffic, address):
        self.traffic, self.random = traffic, traffic.random
        self.named = [("X-Forwarded-For", address), ("X-Forwarded-Proto", "https")]
        self.clients = [kind(port) for port in traffic.ports for kind in (HTTP1, HTTP2)]
        self.last = None
        # By path: the version that the client holds as a dictionary, and the tag of the last response.
        self.held, self.tags = {}, {}

    def close(self):
        for client in self.clients:
            if client.writer:
                client.writer.close()

    async def _ask(self, method, target, *fields, **more):
        client = self.random.choice(self.clients)
        if isinstance(client, HTTP2):
            more.pop("chunk", None)
        self.last = await client.ask(method, target, [*fields, *self.named], **more)

    def _feed(self):
        number = self.random.randrange(FEEDS)
        return f"/feed/{number}" + self.random.choice(["", "?chunked"])

    async def delta(self, name):
        target = self._feed()
        path = target.partition("?")[0]
        fields = [name, ("Accept-Encoding", self.random.choice(["dcb, gzip", "dcz, gzip", "gzip, br, zstd, dcb, dcz"]))]
        if path in self.held:
            digest = hashlib.sha256(origin.body(path, self.held[path])).digest()
            fields.append(("Available-Dictionary", f":{base64.b64encode(digest).decode()}:"))
        await self._ask("GET", target, *fields)
        self._learn(path)

    def _learn(self, path):
        tag = self.last.fields.get("etag")
        if self.last.status == 200 and tag:
            self.tags[path] = tag
            if "use-as-dictionary" in self.last.fields:
                self.held[path] = int(tag.removeprefix("W/").strip('"'))

    async def feed(self, name):
        await self._ask("GET", self._feed(), name, ("Accept-Encoding", self.random.choice(CODINGS)))

    async def not_modified(self, name):
        target = self._feed()
        tag = self.tags.get(target.partition("?")[0], '"none"')
        await self._ask("GET", target, name, ("If-None-Match", tag), ("Accept-Encoding", "gzip, dcb"))

    async def head(self, name):
        target = self.random.choice([self._feed(), "/status/404", "/.dictum/none"])
        await self._ask("HEAD", target, name, ("Accept-Encoding", self.random.choice(CODINGS)))

    async def range(self, name):
        first = self.random.randrange(90_000)
        await self._ask("GET", "/noise", name, ("Range", f"bytes={first}-{first + self.random.randrange(9_999)}"))

    async def upload(self, name):
        size = self.random.choice([1, 99, 4_096, 70_000, BODY_LIMIT])
        content = origin.NOISE[:1] * size
        fields = [name]
        if self.random.random() < 0.2:
            fields.append(("Expect", "100-continue"))
        await self._ask(self.random.choice(["POST", "PUT"]), "/echo", *fields, content=content,
                        chunk=self.random.choice([0, 0, 1_000, 65_536]))

    async def status(self, name):
        status = self.random.choice(STATUSES)
        await self._ask(self.random.choice(["GET", "GET", "DELETE"]), f"/status/{status}", name)

    async def refused(self, name):
        """A request that Dictum answers itself."""
        match self.random.randrange(3):
            case 0: await self._ask("GET", "/.dictum/none/none", name, ("Accept", self.random.choice(["*/*", "text/plain"])))
            case 1: await self._ask("TRACE", "/feed/1", name)
            case 2:
                # The response comes before the body, and the connection ends with it.
                await self._alone("POST", "/echo", name, ("Content-Length", BODY_LIMIT + 1))

    async def _alone(self, method, target, *fields, **more):
        """A request over HTTP/1 on a connection of its own."""
        client = HTTP1(self.random.choice(self.traffic.ports))
        self.last = await client.ask(method, target, [*fields, *self.named], **more)
        if client.writer:
            await client._close() if self.last.fields.get("connection") == "close" else client.writer.close()

    async def old(self, name):
        target = self.random.choice([self._feed(), "/status/404"])
        await self._alone("GET", target, name, ("Accept-Encoding", "gzip"), version="1.0")

    async def broken(self, name):
        await self._ask("GET", "/fault/" + self.random.choice(["reset", "garbage", "short"]), name)

    async def stalled(self, name):
        await self._ask("GET", "/fault/stall", name)

    async def abort(self, name):
        """The client leaves before the response, or in its middle."""
        token = name[1]
        if self.random.random() < 0.5:
            arrived = self.traffic.upstream.arrived.setdefault(token, asyncio.Event())
            await self._ask("GET", f"/fault/silent/{token}", name, leaves_after=arrived)
        else:
            await self._ask("GET", f"/fault/endless/{token}", name, leaves_after=self.random.randrange(1, 50_000))

    async def malformed(self, name):
        """Bytes that never become a request."""
        client = HTTP1(self.random.choice(self.traffic.ports))
        data = self.random.choice([b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n"])
        received = await client.send(data)
        if client.writer:
            await client._close()
        received.protocol = None
        return received
