"""What memory streams, slow readers, bombs and idle connections take: figures with limits."""

import asyncio
import contextlib
import resource
import socket
import subprocess
import sys
import zlib

import servers
import zstandard
import wire

MEBIBYTE = 1 << 20
STREAM_BYTES = 1 << 30
READERS, READER_BYTES, READING_SECONDS = 500, 10 * MEBIBYTE, 15
BOMB_BYTES, BOMBS = 256 * MEBIBYTE, 8
STREAMS_MAX = 64 * MEBIBYTE
# The limit for bombs: the configured memory for copies, decoders and encoders, and the buffers of each connection.
BUDGETS = {"memory": servers.budgets(store=16, coding=32)}
BOMBS_MAX = (16 + 32 + BOMBS) * MEBIBYTE
# Fewer where the limit of descriptors leaves fewer places: each client has one, and so may its request's upstream.
IDLE = min(10_000, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200) // 2)
IDLE_MAX = 8 * 1024
BLOCK = bytes(256 * 1024)


class Figure:
    """Bytes that something takes, and the most that it may take."""

    def __init__(self, title, value, limit, base):
        self.title, self.value, self.limit, self.base = title, value, limit, base
        print(f"figures: {title}: {_text(value)} above {_text(base)}", file=sys.stderr, flush=True)

    @property
    def is_too_large(self):
        return self.value > self.limit

    def __str__(self):
        return f"{self.title}: {_text(self.value)}, and the most is {_text(self.limit)}"


def _text(count):
    return f"{count / MEBIBYTE:.1f} MiB" if count >= MEBIBYTE / 2 else f"{count:,.0f} bytes"


async def measure(directory, binary):
    """Prints the figures and returns them."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1024)
    origin = _Port(server.sockets[0].getsockname()[1])
    try:
        return [*await _streams(directory, binary, origin), *await _bombs(directory, binary, origin),
                *await _idle(directory, binary, origin)]
    finally:
        server.close()


class _Port:
    """A server of which the proxy needs the port alone."""

    def __init__(self, port):
        self.port = port


@contextlib.asynccontextmanager
async def _proxy(directory, binary, origin, name, **settings):
    proxy = servers.Dictum(directory, origin, binary, name, **settings, limits={
        "request_body": "2GiB", "connections": IDLE + 100, "keepalive_timeout": "10m"})
    try:
        await asyncio.to_thread(proxy.wait)
        for _ in range(200):
            await _get(proxy, 100)
        yield proxy
    finally:
        proxy.stop()


# MARK: Streams


async def _streams(directory, binary, origin):
    async with _proxy(directory, binary, origin, "streams") as proxy:
        base, most = proxy.resident_bytes(), 0
        for what, act in [("1 GiB down", _get(proxy, STREAM_BYTES)), ("1 GiB up", _put(proxy)),
                          (f"{READERS} slow readers of 10 MiB", _read_slowly(proxy))]:
            peak = await _peak_during(proxy, act)
            most = max(most, peak)
            print(f"figures: {what}: {_text(peak - base)}", file=sys.stderr, flush=True)
    return [Figure(f"1 GiB down, 1 GiB up, {READERS} slow readers of 10 MiB", most - base, STREAMS_MAX, base)]


async def _bombs(directory, binary, origin):
    found = []
    for coding in _BOMBS:
        async with _proxy(directory, binary, origin, coding, **BUDGETS) as proxy:
            base = proxy.resident_bytes()
            grown = await _peak_during(proxy, _explode(proxy, coding)) - base
        title = f"{BOMBS} bombs of 256 MiB in {coding}, {BOMB_BYTES // len(_BOMBS[coding]):,} times"
        found.append(Figure(title, grown, BOMBS_MAX, base))
    return found


async def _peak_during(proxy, act):
    """The largest resident memory while something is done."""
    task, peak = asyncio.ensure_future(act), 0
    while not task.done():
        peak = max(peak, proxy.resident_bytes())
        await asyncio.wait([task], timeout=0.1)
    task.result()
    return peak


async def _explode(proxy, coding):
    """Has the proxy decode bombs, since their readers, who take nothing after the head for a while, know no coding."""
    async def read():
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1 << 14)
        writer.write(f"GET /{coding} HTTP/1.1\r\nHost: soak.test\r\nAccept-Encoding: identity\r\n\r\n".encode())
        head = await wire.read_head(reader)
        # If the proxy lacks the memory to decode the body, it forwards the encoded one.
        if head.status != 200 or head.fields.get("content-encoding", coding) != coding:
            raise SystemExit(f"figures: the bomb in {coding} came as {head}")
        await asyncio.sleep(2)
        if "content-encoding" in head.fields:
            await reader.readexactly(int(head.fields["content-length"]))
        else:
            for _ in range(200):
                await reader.read(1 << 16)
        writer.transport.abort()

    await asyncio.gather(*(read() for _ in range(BOMBS)))


async def _get(proxy, size):
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1 << 20)
    writer.write(b"GET /%d HTTP/1.1\r\nHost: soak.test\r\n\r\n" % size)
    head = await wire.read_head(reader)
    length = int(head.fields["content-length"])
    while length:
        piece = await reader.read(1 << 20)
        if not piece:
            raise SystemExit(f"figures: {length} bytes of {size} did not come")
        length -= len(piece)
    writer.close()


async def _put(proxy):
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"PUT /0 HTTP/1.1\r\nHost: soak.test\r\nContent-Length: %d\r\n\r\n" % STREAM_BYTES)
    for _ in range(STREAM_BYTES // len(BLOCK)):
        writer.write(BLOCK)
        await writer.drain()
    head = await wire.read_head(reader)
    if head.fields.get("x-received") != str(STREAM_BYTES):
        raise SystemExit(f"figures: the upstream read {head.fields.get('x-received')} bytes")
    writer.close()


async def _read_slowly(proxy):
    async def read():
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1 << 14)
        writer.write(b"GET /%d HTTP/1.1\r\nHost: soak.test\r\n\r\n" % READER_BYTES)
        for _ in range(READING_SECONDS):
            await reader.read(1 << 14)
            await asyncio.sleep(1)
        writer.transport.abort()

    await asyncio.gather(*(read() for _ in range(READERS)))


# MARK: Idle connections


async def _idle(directory, binary, origin):
    async with _proxy(directory, binary, origin, "idle") as proxy:
        base = proxy.resident_bytes()
        connections = await asyncio.to_thread(_connect, proxy)
        each = (proxy.resident_bytes() - base) / len(connections)
        alive = sum(_is_open(connection) for connection in connections)
        for connection in connections:
            connection.close()
    if alive < len(connections):
        raise SystemExit(f"figures: {len(connections) - alive} of {len(connections)} idle connections were closed")
    return [Figure(f"Each of {len(connections):,} idle connections", each, IDLE_MAX, base)]


def _connect(proxy):
    """Connections that have had one answer each."""
    connections = []
    for _ in range(IDLE):
        connection = socket.create_connection(("127.0.0.1", proxy.port))
        connection.sendall(b"GET /100 HTTP/1.1\r\nHost: soak.test\r\nAccept-Encoding: gzip\r\n\r\n")
        answer = b""
        while len(answer) < 100 or not answer.endswith(bytes(100)):
            piece = connection.recv(4096)
            if not piece:
                raise SystemExit(f"figures: connection {len(connections)} was closed: {answer}")
            answer += piece
        connections.append(connection)
    return connections


def _is_open(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True


# MARK: The upstream


async def _serve(reader, writer):
    """Answers `/N` with N zeros, and says how many bytes of a body it read."""
    try:
        while True:
            head = await wire.read_head(reader)
            left = received = int(head.fields.get("content-length", 0))
            while left:
                left -= len(await reader.read(min(left, 1 << 20)))
            if bomb := _BOMBS.get(head.words[1][1:]):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: %b\r\n"
                             b"Content-Length: %d\r\n\r\n" % (head.words[1][1:].encode(), len(bomb)) + bomb)
                await writer.drain()
                continue
            size = int(head.words[1][1:])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nX-Received: %d\r\n"
                         b"Content-Length: %d\r\n\r\n" % (received, size))
            for _ in range(size // len(BLOCK)):
                writer.write(BLOCK)
                await writer.drain()
            writer.write(BLOCK[:size % len(BLOCK)])
            await writer.drain()
    except (wire.Broken, ConnectionError):
        pass
    finally:
        writer.close()


def _gzip():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(BOMB_BYTES // MEBIBYTE)) + packer.flush()


_ZEROS = bytes(BOMB_BYTES)
_BOMBS = {
    "gzip": _gzip(), "zstd": zstandard.ZstdCompressor().compress(_ZEROS),
    "br": subprocess.run(["brotli", "-q", "2", "-c"], input=_ZEROS, capture_output=True, check=True).stdout,
}
del _ZEROS
