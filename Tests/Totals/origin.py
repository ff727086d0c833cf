"""The upstream: bodies that change, and faults on request. What it answers follows from the path alone."""

import asyncio
import hashlib
import socket
import struct

REQUESTS_PER_VERSION = 40
NOISE = hashlib.shake_128(b"noise").digest(100_000)
# More than the buffers between the upstream and a client that reads little hold.
LONG_BYTES, LONG_SENT = 8_000_000, 4_000_000


def body(path, version):
    """The list at a path: each version changes one row in twenty."""
    rows = []
    for row in range(150):
        word = hashlib.blake2s(f"{path} {row} {(version + row) // 20}".encode()).hexdigest()
        rows.append(f'{{"row":{row},"name":"{word[:24]}","state":"{word[24:28]}"}}')
    return f'{{"path":"{path}","version":{version},"rows":[{",".join(rows)}]}}'.encode()


class Origin:
    def __init__(self):
        self.server = self.port = None
        # By path: the requests so far, and the current version with its body.
        self.counts, self.bodies = {}, {}
        # The requests that wait for their client to leave, by their token.
        self.arrived = {}

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024, limit=1 << 17)
        self.port = self.server.sockets[0].getsockname()[1]

    def current(self, path):
        count = self.counts[path] = self.counts.get(path, 0) + 1
        version = count // REQUESTS_PER_VERSION
        if path not in self.bodies or self.bodies[path][0] != version:
            self.bodies[path] = version, body(path, version)
        return self.bodies[path]

    async def _serve(self, reader, writer):
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader, writer):
        block = await reader.readuntil(b"\r\n\r\n")
        line, *rest = block.decode("latin-1").split("\r\n")[:-2]
        method, target, _ = line.split(" ")
        fields = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in rest)}
        if "100-continue" in fields.get("expect", ""):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        count = await _read_body(reader, fields)
        kind, *words = target.partition("?")[0].strip("/").split("/")
        match kind:
            case "feed":
                return await self._feed(writer, method, target, fields)
            case "status":
                text = b'{"error": "as it was asked for"}'
                return await _send(writer, method, int(words[0]), {"Content-Type": "application/json"}, text)
            case "noise":
                first, last = (int(number) for number in fields["range"].removeprefix("bytes=").split("-"))
                about = {"Content-Type": "application/octet-stream", "Content-Range": f"bytes {first}-{last}/{len(NOISE)}"}
                return await _send(writer, method, 206, about, NOISE[first:last + 1])
            case "echo":
                about = {"Content-Type": "text/plain", "Cache-Control": "no-store"}
                return await _send(writer, method, 200, about, f"{count} bytes".encode(), is_chunked=count % 2 == 1)
            case "fault":
                return await self._misbehave(words, reader, writer)

    async def _feed(self, writer, method, target, fields):
        version, text = self.current(target.partition("?")[0])
        about = {"Content-Type": "application/json", "Cache-Control": "public, max-age=600", "ETag": f'"{version}"'}
        if fields.get("if-none-match", "").removeprefix("W/") == f'"{version}"':
            return await _send(writer, method, 304, about, b"")
        return await _send(writer, method, 200, about, text, is_chunked="chunked" in target)

    async def _misbehave(self, words, reader, writer):
        match words:
            case ["reset"]:
                _reset(writer)
            case ["garbage"]:
                writer.write(b"NOT HTTP\r\n\r\n")
            case ["short"]:
                # The head goes out before the end comes, so that there is a response to cut off.
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n" + bytes(50_000))
                await writer.drain()
                await asyncio.sleep(0.05)
            case ["stall"]:
                await reader.read()
            case ["silent", token]:
                self.arrived.setdefault(token, asyncio.Event()).set()
                await reader.read()
            case ["endless", _]:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n" % LONG_BYTES)
                writer.write(bytes(LONG_SENT))
                await reader.read()
        return False


async def _read_body(reader, fields):
    if "content-length" in fields:
        return len(await reader.readexactly(int(fields["content-length"])))
    count = 0
    if "transfer-encoding" in fields:
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
            count += size
        await reader.readexactly(2)
    return count


async def _send(writer, method, status, about, text, is_chunked=False):
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in about.items())]
    if status != 304:
        lines.append("Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(text)}")
    head = "\r\n".join([*lines, "", ""]).encode()
    if method == "HEAD" or status == 304:
        text = b""
    elif is_chunked:
        middle = len(text) // 2
        text = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (text[:middle], text[middle:]) if part) + b"0\r\n\r\n"
    writer.write(head + text)
    await writer.drain()
    return True


def _reset(writer):
    """Closes a connection so that the other side gets a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
