"""Clients that come back to a feed whose body differs in every response: how many get a delta, and what it costs in bytes.

Each client asks in random order, keeps what it is offered with its id, and compares every body. The bytes are measured
against those of a store that forgets nothing: each response over the body that the client got last."""

import asyncio
import base64
import collections
import gzip
import hashlib
import multiprocessing
import pathlib
import random
import re
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Soak"))
import servers  # noqa: E402
import wire  # noqa: E402
from table import Row  # noqa: E402

CLIENTS = 3_000
# The number of returns per client.
RETURNS = 3
WORKERS = 8
# The benchmark codes one in this many responses itself, for comparison.
SAMPLED = 25
SHARE_LEAST, SHARE_LEAST_WITH_NEWCOMERS, BYTES_MOST = 0.98, 0.95, 1.3
_DCZ = bytes.fromhex("5e2a4d1820000000")


def rows(bench, versions, clients=CLIENTS):
    """All rows of this file."""
    found = []
    for newcomers, least in [(0, SHARE_LEAST), (3, SHARE_LEAST_WITH_NEWCOMERS)]:
        seen = _run(bench, versions, clients, newcomers)
        title = f"{clients:,} clients, every body of {len(versions[0]) / 1000:.0f} KB new"
        if newcomers:
            title += f", {newcomers} newcomers beside each request"
        found.append(Row(
            f"{title}: deltas for those who come back", f"{seen.deltas / seen.advertised:.1%}",
            ", ".join(f"{count} {reason}" for reason, count in seen.misses.items()) or "100 %", "",
            seen.deltas / seen.advertised, "at least", least))
        if not newcomers:
            found.append(Row(
                f"{title}: bytes to them", f"{seen.bytes / seen.advertised / 1000:.2f} KB",
                f"{seen.oracle_bytes / seen.sampled / 1000:.2f} KB", "had nothing been forgotten",
                seen.sampled_bytes / seen.oracle_bytes, "at most", BYTES_MOST))
            found.append(Row(
                f"{title}: bytes against gzip -6", f"{seen.sampled_bytes / seen.sampled / 1000:.2f} KB",
                f"{seen.gzip_bytes / seen.sampled / 1000:.2f} KB", "gzip -6", seen.sampled_bytes / seen.gzip_bytes))
    return found


def _run(bench, versions, clients, newcomers):
    port = multiprocessing.Value("i", 0)
    told = multiprocessing.Event()
    total = clients * (1 + RETURNS) * (1 + newcomers)
    upstream = multiprocessing.Process(target=_serve_origin, args=(versions, total, told, port), daemon=True)
    upstream.start()
    try:
        if not told.wait(30):
            raise SystemExit("the origin of changing bodies did not start")
        dictum = bench.start(
            servers.Dictum, Port(port.value), bench.binary, f"dictum-returning-{newcomers}",
            {"path": str(bench.directory / f"returning-{newcomers}.sqlite")}, [{"match": "/feed"}], None, explain=True)
        seen = asyncio.run(_Crowd(versions, clients, newcomers, dictum.port).run())
        dictum.stop()
    finally:
        upstream.kill()
        upstream.join()
    return seen


class Port:
    """A server of which the proxy needs the port alone."""

    def __init__(self, port):
        self.port = port


# MARK: The feed


def _body(versions, number, nonce):
    """A version of the history, told apart from all other responses."""
    return b'{"request":"%016x","at":%d,"data":%s}' % (nonce, 1_700_000_000_000 + nonce % 10**9, versions[number])


def _serve_origin(versions, total, told, port):
    chance, count = random.Random(1), 0

    async def serve(reader, writer):
        nonlocal count
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                number = min(count * len(versions) // total, len(versions) - 1)
                count += 1
                nonce = chance.getrandbits(64)
                body = _body(versions, number, nonce)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=86400\r\n"
                    b"X-Which: %d %d\r\nContent-Length: %d\r\n\r\n" % (number, nonce, len(body)) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        told.set()
        await server.serve_forever()

    asyncio.run(main())


# MARK: The clients


class _Seen:
    def __init__(self):
        self.advertised = self.deltas = self.bytes = 0
        self.sampled = self.sampled_bytes = self.oracle_bytes = self.gzip_bytes = 0
        self.misses = collections.Counter()


class _Crowd:
    """What each client holds is kept as the number and the nonce of a body, since thousands of bodies are large."""

    def __init__(self, versions, clients, newcomers, port):
        self.versions, self.newcomers, self.port = versions, newcomers, port
        self.held, self.last = [None] * clients, [None] * clients
        self.seen = _Seen()
        self.order = [client for client in range(clients) for _ in range(1 + RETURNS)]
        random.Random(2).shuffle(self.order)

    async def run(self):
        turns = iter(self.order)
        await asyncio.gather(*(self._work(turns) for _ in range(WORKERS)))
        return self.seen

    async def _work(self, turns):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 17)
        for client in turns:
            for _ in range(self.newcomers):
                await self._ask(reader, writer, None)
            await self._ask(reader, writer, client)
        writer.close()

    async def _ask(self, reader, writer, client):
        held = None if client is None else self.held[client]
        lines = ["GET /feed HTTP/1.1", "Host: api.test", "Accept-Encoding: gzip, dcz"]
        dictionary = b""
        if held:
            dictionary = _body(self.versions, *held[0])
            digest = base64.b64encode(hashlib.sha256(dictionary).digest()).decode()
            lines += [f"Available-Dictionary: :{digest}:", f'Dictionary-ID: "{held[1]}"']
        writer.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(60):
            head = await wire.read_head(reader)
            received = await wire.read_body(reader, head)
        number, nonce = map(int, head.fields["x-which"].split())
        if client is None:
            return
        coding = head.fields.get("content-encoding", "identity")
        body = _body(self.versions, number, nonce)
        if _decoded(coding, received, dictionary) != body:
            raise SystemExit(f"a wrong body: {coding}, version {number}")
        if held:
            self._count(head, coding, received, body, client)
        if offer := head.fields.get("use-as-dictionary"):
            self.held[client] = ((number, nonce), re.search(r'id="([^"]*)"', offer)[1])
        self.last[client] = (number, nonce)

    def _count(self, head, coding, received, body, client):
        seen = self.seen
        seen.advertised += 1
        seen.bytes += len(received)
        if coding == "dcz":
            seen.deltas += 1
        else:
            seen.misses[re.search(r"reason=([a-z-]+)", head.fields.get("dictum-explain", "reason=none"))[1]] += 1
        if seen.advertised % SAMPLED == 0:
            import zstandard

            words = zstandard.ZstdCompressionDict(
                _body(self.versions, *self.last[client]), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            seen.sampled += 1
            seen.sampled_bytes += len(received)
            seen.oracle_bytes += len(_DCZ) + 32 + len(zstandard.ZstdCompressor(level=3, dict_data=words).compress(body))
            seen.gzip_bytes += len(gzip.compress(body, 6))


def _decoded(coding, body, dictionary):
    if coding == "identity":
        return body
    if coding == "gzip":
        return zlib.decompress(body, 31)
    import zstandard

    header = _DCZ + hashlib.sha256(dictionary).digest()
    if coding != "dcz" or not body.startswith(header):
        raise SystemExit(f"{coding} with {body[:40].hex()}")
    words = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    reader = zstandard.ZstdDecompressor(dict_data=words).decompressobj()
    whole = reader.decompress(body[len(header):])
    if not reader.eof:
        raise SystemExit("a dcz without its end")
    return whole
