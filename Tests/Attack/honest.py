"""Fifty clients that keep what they were offered, come back, and compare every body."""

import asyncio
import base64
import collections
import hashlib
import random
import re
import time

import feed
import wire

try:
    import zstandard
except ImportError:
    raise SystemExit("/usr/bin/python3 lacks zstandard: run `make attack`, which installs it")

CLIENTS = 50
RATE = 20
FEEDS = 10
_DCZ = bytes.fromhex("5e2a4d1820000000")


def _reason(explanation):
    found = re.search(r"reason=([a-z-]+)", explanation)
    return found[1] if found else "unexplained"


class Crowd:
    """All of them, each at an address of its own, and as many beside them that ask the upstream itself."""

    def __init__(self, port, upstream):
        self.clients = [Client(port, f"127.0.1.{number + 1}", number) for number in range(CLIENTS)]
        self.clients += [Control(upstream) for _ in range(CLIENTS)]

    async def run(self, seconds):
        """Has them ask for so long; returns what they saw."""
        seen = Seen()
        began = time.monotonic()
        await asyncio.gather(*(client.run(began + seconds, seen) for client in self.clients))
        return seen


class Seen:
    """What the clients saw in a span of time."""

    def __init__(self):
        self.advertised = self.deltas = 0
        self.waits, self.wrong = [], []
        # The waits of those that asked the upstream itself.
        self.control = []
        # Why responses to those that advertised were no deltas, as `Dictum-Explain` says.
        self.misses = collections.Counter()

    @property
    def share(self):
        return self.deltas / self.advertised if self.advertised else 0

    def wait(self, quantile):
        """The wait in milliseconds that this share of the responses did not exceed."""
        return self._quantile(self.waits, quantile)

    def control_wait(self, quantile):
        """The same of the responses that did not pass the proxy."""
        return self._quantile(self.control, quantile)

    @staticmethod
    def _quantile(values, quantile):
        waits = sorted(values) or [0]
        return 1000 * waits[min(len(waits) - 1, int(quantile * len(waits)))]


class Control:
    """Asks the upstream without the proxy, as often as a client asks the proxy: what it waits longer is not the proxy's doing.

    There are as many as clients, since one alone would ask seldom while it waits, and so would not see a burst."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.gap = CLIENTS / RATE

    async def run(self, end, seen):
        await asyncio.sleep(random.random() * self.gap)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream, limit=1 << 17)
        while time.monotonic() < end:
            due, began = time.monotonic() + random.uniform(0.5, 1.5) * self.gap, time.monotonic()
            writer.write(b"GET /feed/0 HTTP/1.1\r\nHost: api.test\r\n\r\n")
            await wire.read_body(reader, await wire.read_head(reader))
            seen.control.append(time.monotonic() - began)
            await asyncio.sleep(max(0, due - time.monotonic()))
        writer.transport.abort()


class Client:
    """One connection, one path and one dictionary for it."""

    def __init__(self, port, address, number):
        self.port, self.address = port, address
        self.path = [f"/fresh/{number % 3}", f"/mine/{number}", feed.OPERATIONS, *[f"/feed/{number % FEEDS}"] * 2][number % 5]
        # One in five asks for one of five operations of one URL.
        self.operation = f"Feed{number // 5 % 5}" if self.path == feed.OPERATIONS else None
        # One in five is logged in, and has a token that changes all the time.
        self.login = "Bearer %d" if self.path.startswith("/mine") else None
        self.gap = CLIENTS / RATE
        self.held = self.identifier = self.reader = self.writer = None

    async def run(self, end, seen):
        await asyncio.sleep(random.random() * self.gap)
        while time.monotonic() < end:
            due = time.monotonic() + random.uniform(0.5, 1.5) * self.gap
            try:
                async with asyncio.timeout(30):
                    await self._ask(seen)
            except (wire.Broken, OSError, ValueError, TimeoutError, zstandard.ZstdError) as error:
                seen.wrong.append(f"{self.path}: {type(error).__name__}: {error}")
                self._close()
            await asyncio.sleep(max(0, due - time.monotonic()))
        self._close()

    def _close(self):
        if self.writer:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def _connect(self):
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port, local_addr=(self.address, 0), limit=1 << 17)

    async def _ask(self, seen):
        await self._connect()
        content = feed.operation(self.operation) if self.operation else b""
        lines = [f"{'POST' if content else 'GET'} {self.path} HTTP/1.1", "Host: api.test", "Accept-Encoding: gzip, dcz"]
        detail = self.login % random.getrandbits(30) if self.login else self.operation or ""
        if self.login:
            lines.append(f"Authorization: {detail}")
        if content:
            lines += feed.content_fields(content)
        if self.held:
            lines.append(f"Available-Dictionary: :{base64.b64encode(hashlib.sha256(self.held).digest()).decode()}:")
            if self.identifier:
                lines.append(f'Dictionary-ID: "{self.identifier}"')
        since, began = feed.version(), time.monotonic()
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        head = await wire.read_head(self.reader)
        received = await wire.read_body(self.reader, head)
        seen.waits.append(time.monotonic() - began)
        body = self._decoded(head.fields.get("content-encoding", "identity"), received)
        # The body must be the current one of any moment since the request; the upstream has confirmed a stored `/fresh`.
        if head.status != 200 or body not in [feed.body(self.path, number, detail) for number in range(since, feed.version() + 1)]:
            raise ValueError(f"status {head.status}, {body[:120]}")
        if self.held:
            seen.advertised += 1
            if head.fields.get("content-encoding") == "dcz":
                seen.deltas += 1
            else:
                seen.misses[_reason(head.fields.get("dictum-explain", ""))] += 1
        if offer := head.fields.get("use-as-dictionary"):
            identifier = re.search(r'\bid="([^"]*)"', offer)
            self.held, self.identifier = body, identifier and identifier[1]
        if head.fields.get("connection") == "close":
            self._close()

    def _decoded(self, coding, body):
        if coding == "identity":
            return body
        if coding == "gzip":
            import zlib

            return zlib.decompress(body, 31)
        header = _DCZ + hashlib.sha256(self.held or b"").digest()
        if coding != "dcz" or not body.startswith(header):
            raise ValueError(f"{coding} with {body[:40].hex()}")
        words = zstandard.ZstdCompressionDict(self.held, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        reader = zstandard.ZstdDecompressor(dict_data=words).decompressobj()
        whole = reader.decompress(body[len(header):])
        if not reader.eof:
            raise ValueError("dcz without its end")
        return whole
