"""The upstream: it answers what `bodies` makes, and on some paths it does what no upstream should."""

import asyncio
import functools
import hashlib
import random
import socket
import struct
import subprocess
import zlib

import zstandard

import bodies
import wire

FAULTS = ["reset", "reset-in-body", "stall", "stall-in-body", "short", "long", "garbage", "drip", "early", "bomb",
          "chunk-garbage"]


class Origin:
    """The upstream on a free port of loopback."""

    def __init__(self):
        self.server = self.port = None
        self.refused, self.connections = set(), set()

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024, limit=1 << 18)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self):
        """Closes the listening socket and every connection."""
        self.server.close()
        for writer in list(self.connections):
            writer.transport.abort()

    async def _serve(self, reader, writer):
        self.connections.add(writer)
        try:
            answered = 0
            while await self._answer(reader, writer, is_reused=answered > 0):
                answered += 1
        except (wire.Broken, ConnectionError):
            pass
        finally:
            self.connections.discard(writer)
            writer.close()

    async def _answer(self, reader, writer, is_reused):
        head = await wire.read_head(reader)
        method, target, _ = head.words
        path = target.partition("?")[0]
        if path.startswith("/fault/"):
            return await _misbehave(path.split("/")[2], reader, writer)
        body = await wire.read_body(reader, head)
        # Closes at the moment of reuse, once for each request that asks for it.
        token = head.fields.get("x-close-once")
        if token and is_reused and token not in self.refused:
            self.refused.add(token)
            return False
        if path.startswith("/echo"):
            answer = hashlib.sha256(body).hexdigest().encode()
            return await _send(writer, method, 200, {"Content-Type": "text/plain", "Cache-Control": "no-store"}, answer)
        return await _resource(writer, method, path, head)


async def _resource(writer, method, path, head):
    kind = path.split("/")[1]
    if kind == "noise":
        return await _range(writer, method, bodies.noise(path, 100_000), head)
    version = bodies.current_version()
    name = f"{path} of {head.fields['authorization']}" if kind == "mine" else path
    if kind == "broken":
        return await _break(writer, method, bodies.made(path, version, 300))
    fields = {
        "Content-Type": "text/html" if kind == "page" else "application/json", "ETag": f'"{version}"',
        "Cache-Control": "private, max-age=60" if kind == "mine" else "public, max-age=5" if kind == "page"
        else "public, max-age=600",
    }
    if kind == "untagged":
        del fields["ETag"]
    elif head.fields.get("if-none-match", "").removeprefix("W/") == f'"{version}"':
        return await _send(writer, method, 304, fields, b"")
    return await _send(writer, method, 200, fields, bodies.made(name, version, bodies.LARGE_LINES if kind == "large" else 300))


async def _break(writer, method, body):
    """Sends a body that may be coded, and in a way that may not come to its end; returns whether the connection goes on."""
    coding = random.choice(["identity", "identity", "gzip", "br", "zstd"])
    body = _coded(coding, body)
    lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=600"]
    if coding != "identity":
        lines.append(f"Content-Encoding: {coding}")
    way, is_chunked = random.choice(["whole", "whole", "stall", "drip", "reset", "short"]), random.random() < 0.5
    lines.append("Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    if method == "HEAD":
        return True
    wire_bytes = wire.chunked(body, 1000) if is_chunked else body
    end = len(wire_bytes) if way in ("whole", "stall", "drip") else random.randrange(len(wire_bytes))
    pieces = {"stall": 2, "drip": 20}.get(way, 1)
    for number in range(pieces):
        writer.write(wire_bytes[end * number // pieces:end * (number + 1) // pieces])
        await writer.drain()
        if number + 1 < pieces:
            await asyncio.sleep(random.random() * {"stall": 2, "drip": 0.1}[way])
    if way == "reset":
        _reset(writer)
    return way in ("whole", "stall", "drip")


@functools.lru_cache(maxsize=64)
def _coded(coding, body):
    match coding:
        case "gzip":
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            return packer.compress(body) + packer.flush()
        case "zstd":
            return zstandard.ZstdCompressor().compress(body)
        case "br":
            return subprocess.run(["brotli", "-q", "4", "-c"], input=body, capture_output=True, check=True).stdout
    return body


async def _range(writer, method, body, head):
    fields = {"Content-Type": "application/octet-stream", "ETag": '"noise"', "Accept-Ranges": "bytes"}
    unit, _, span = head.fields.get("range", "").partition("=")
    if unit != "bytes":
        return await _send(writer, method, 200, fields, body)
    first, last = (int(number) for number in span.split("-"))
    fields["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
    return await _send(writer, method, 206, fields, body[first:last + 1])


async def _send(writer, method, status, fields, body):
    """Sends an answer in one of the ways that there are; returns whether the connection goes on."""
    way = "length" if method == "HEAD" or status == 304 else random.choice(["length", "chunked", "pieces", "end"])
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in fields.items())]
    if way in ("chunked", "pieces"):
        lines.append("Transfer-Encoding: chunked")
        body = wire.chunked(body, random.choice([100, 4096, 70_000]) if len(body) < 200_000 else 70_000)
    elif way == "end":
        lines.append("Connection: close")
    elif status != 304:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([*lines, "", ""]).encode()
    if method == "HEAD" or status == 304:
        body = b""
    if way == "pieces":
        writer.write(head)
        middle = random.randrange(len(body))
        for piece in [body[:middle], body[middle:]]:
            await writer.drain()
            await asyncio.sleep(random.random() * 0.05)
            writer.write(piece)
    else:
        writer.write(head + body)
    await writer.drain()
    return way != "end"


# MARK: Faults of upstreams

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: public, max-age=600\r\n"


async def _misbehave(kind, reader, writer):
    match kind:
        case "reset":
            _reset(writer)
        case "reset-in-body":
            writer.write(_OK + b"Content-Length: 100000\r\n\r\n" + b"x" * 50_000)
            await writer.drain()
            await asyncio.sleep(0.05)
            _reset(writer)
        case "stall":
            await reader.read()
        case "stall-in-body":
            writer.write(_OK + b"Content-Length: 100000\r\n\r\n" + b"x" * 50_000)
            await reader.read()
        case "short":
            writer.write(_OK + b"Content-Length: 100000\r\n\r\n" + b"x" * 50_000)
        case "long":
            writer.write(_OK + b"Content-Length: 5\r\n\r\nwholeHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen")
            await reader.read()
        case "garbage":
            writer.write(random.randbytes(random.randrange(1, 5000)) + b"\r\n\r\n")
        case "chunk-garbage":
            writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\nzz\r\n")
        case "drip":
            writer.write(_OK + b"Content-Length: 100000\r\n\r\n")
            for _ in range(300):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.2)
        case "early":
            # Responds without ever reading the rest of the request.
            writer.write(_OK + b"Content-Length: 7\r\nConnection: close\r\n\r\nenough\n")
            await writer.drain()
            await asyncio.sleep(0.2)
        case "bomb":
            writer.write(_OK + b"Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB)
            await writer.drain()
            await asyncio.sleep(0.5)
    return False


def _reset(writer):
    """Closes a connection so that the other side gets a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _bomb(mebibytes):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(mebibytes)) + packer.flush()


BOMB_MEBIBYTES = 32
BOMB = _bomb(BOMB_MEBIBYTES)
