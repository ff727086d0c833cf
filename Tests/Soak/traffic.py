"""Those who ask for what they should: each act knows the one right answer and raises `Wrong` for any other."""

import asyncio
import base64
import hashlib
import itertools
import random

import bodies
import wire
from client import Answer, Client, Wrong, linked

CODINGS = ["dcz, dcb, zstd, br, gzip", "dcz", "dcb", "dcz, gzip", "zstd", "br", "gzip", "identity"]
_numbers = itertools.count()


class Visitor:
    """One client with its connections, dictionaries and habits."""

    def __init__(self, proxy, tally):
        authority = proxy.authority if random.random() < 0.3 else None
        self.client = Client(proxy.tls_port if authority else proxy.port, authority)
        self.tally, self.etags, self.plain_port = tally, {}, proxy.port
        self.user = f"Bearer user-{next(_numbers)}"
        self.acts = {
            self.feed: 30, self.page: 12, self.mine: 12, self.fresh: 8, self.conditional: 8, self.head: 5,
            self.broken: 20, self.gone: 4, self.old: 5, self.upload: 8, self.part: 6, self.large: 1, self.slow: 1, self.closed_at_reuse: 4,
        }

    async def act(self):
        """Does one of the acts; a new connection now and then."""
        act = random.choices(list(self.acts), weights=self.acts.values())[0]
        if random.random() < 0.1:
            self.client.close()
        await act()
        return act.__name__

    async def get(self, path, name=None, lines=300, fields=(), dictionary=None, **others):
        """Gets a resource that `bodies` makes, and checks it."""
        dictionary = dictionary or path
        since = bodies.current_version()
        fields = [("Accept-Encoding", random.choice(CODINGS)), *self.client.advertise(dictionary), *fields]
        answer = await self.client.ask("GET", path, fields, **others)
        expect(answer, 200, path)
        body = await self.client.decoded(answer, dictionary)
        version = bodies.version_of(body)
        if not since <= version <= bodies.current_version():
            raise Wrong(f"{path}: version {version} and not {since} in {body[:80]}")
        if digest(body) != digest(bodies.made(name or path, version, lines)):
            raise Wrong(f"{path}: the body is not its version {version}: {body[:80]}")
        self.client.keep(dictionary, answer, body)
        self.tally.count_coding(answer.fields.get("content-encoding", "identity"))
        if "etag" in answer.fields:
            self.etags[path] = (answer.fields["etag"], version)
        return answer

    async def feed(self):
        await self.get(f"/{random.choice(['feed', 'untagged'])}/{random.randrange(12)}")

    async def fresh(self):
        await self.get(f"/fresh/{random.randrange(4)}")

    async def mine(self):
        path = f"/mine/{random.randrange(3)}"
        await self.get(path, f"{path} of {self.user}", fields=[("Authorization", self.user)])

    async def page(self):
        path = f"/page/{random.randrange(6)}"
        # A body gets a dictionary URL once clients at three addresses have received it.
        address = f"192.0.2.{random.randrange(1, 250)}"
        link = linked(await self.get(path, fields=[("X-Forwarded-For", address), ("X-Forwarded-Proto", "https")]))
        if not link:
            return
        digest_named = link.rpartition("/")[2]
        answer = await self.client.ask("GET", link, [("Accept-Encoding", "identity")])
        # A reload may have dropped the named body. Otherwise the response must carry exactly that body.
        if answer.status == 404:
            return
        expect(answer, 200, link)
        if base64.urlsafe_b64encode(hashlib.sha256(answer.body).digest()).decode().rstrip("=") != digest_named:
            raise Wrong(f"{link}: another body")
        self.client.keep(path, answer, answer.body)
        self.tally.count_coding("linked dictionary")

    async def conditional(self):
        path = f"/feed/{random.randrange(12)}"
        if path not in self.etags:
            return await self.get(path)
        tag, version = self.etags[path]
        since = bodies.current_version()
        answer = await self.client.ask("GET", path, [("If-None-Match", tag), ("Accept-Encoding", "gzip")])
        now = bodies.current_version()
        if answer.status == 304 and version in (since, now) or answer.status == 200 and version != now:
            return None
        raise Wrong(f"{path}: {answer.status} to the tag of version {version}, now {since} to {now}")

    async def broken(self):
        """A resource whose upstream codes, stalls, drips, resets and ends early: what looks whole must be right."""
        path = f"/broken/{random.randrange(6)}"
        since = bodies.current_version()
        fields = [("Accept-Encoding", random.choice(CODINGS)), *self.client.advertise(path)]
        try:
            answer = await self.client.ask("GET", path, fields)
        except wire.Broken:
            self.client.close()
            return self.tally.count_coding("broken off")
        if answer.status in (502, 504):
            return self.tally.count_coding(f"status {answer.status}")
        expect(answer, 200, path)
        body = await self.client.decoded(answer, path)
        if body not in [bodies.made(path, number, 300) for number in range(since, bodies.current_version() + 1)]:
            raise Wrong(f"{path}: looks whole, and is not: {len(body)} bytes, {body[:80]}")
        self.client.keep(path, answer, body)
        self.tally.count_coding(answer.fields.get("content-encoding", "identity"))

    async def gone(self):
        """Leaves in the middle of such a response."""
        path = f"/broken/{random.randrange(6)}"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.client.port if not self.client.tls else self.plain_port)
        offered = "".join(f"{name}: {value}\r\n" for name, value in self.client.advertise(path))
        writer.write(f"GET {path} HTTP/1.1\r\nHost: soak.test\r\nAccept-Encoding: dcz, dcb\r\n{offered}\r\n".encode())
        try:
            await asyncio.wait_for(reader.read(random.choice([1, 200, 5000])), random.random())
        except (TimeoutError, ConnectionError):
            pass
        writer.transport.abort()

    async def head(self):
        path = random.choice(["/feed/1", "/noise/1"])
        answer = await self.client.ask("HEAD", path, [("Accept-Encoding", random.choice(CODINGS))])
        expect(answer, 200, path)

    async def old(self):
        path = f"/feed/{random.randrange(12)}"
        await self.get(path, version="1.0")

    async def upload(self):
        body = random.randbytes(random.choice([0, 1, 1000, 70_000, 300_000]))
        chunk = random.choice([0, 0, 1 + len(body) // 7])
        fields = [("Expect", "100-continue")] if body and random.random() < 0.2 else []
        answer = await self.client.ask("POST", "/echo", fields, body, in_chunks=chunk)
        expect(answer, 200, "/echo")
        if answer.body.decode() != digest(body):
            raise Wrong(f"/echo: the upstream read another body than the {len(body)} bytes that were sent")

    async def part(self):
        path = f"/noise/{random.randrange(4)}"
        body = bodies.noise(path, 100_000)
        first = random.randrange(len(body))
        last = random.randrange(first, len(body))
        if random.random() < 0.3:
            answer = await self.client.ask("GET", path)
            expect(answer, 200, path)
            right = body
        else:
            answer = await self.client.ask("GET", path, [("Range", f"bytes={first}-{last}")])
            expect(answer, 206, path)
            right = body[first:last + 1]
        if digest(answer.body) != digest(right):
            raise Wrong(f"{path}: other bytes than {first} to {last}")

    async def large(self):
        await self.get(f"/large/{random.randrange(2)}", lines=bodies.LARGE_LINES)

    async def slow(self):
        """Reads a large answer slowly, but faster than the least rate."""
        await self.get(f"/large/{random.randrange(2)}", lines=bodies.LARGE_LINES, pause=lambda: asyncio.sleep(0.1))

    async def closed_at_reuse(self):
        """The upstream closes a kept connection when this request comes, once: it has to be sent again."""
        await self.get(f"/feed/{random.randrange(12)}", fields=[("X-Close-Once", str(next(_numbers)))])


def expect(answer: Answer, status, what):
    if answer.status != status:
        raise Wrong(f"{what}: {answer.status} instead of {status}: {answer.body[:200]}")


def digest(body):
    return hashlib.sha256(body).hexdigest()
