"""HTTP/1 on asyncio's streams, as strict as it takes to see a lie; no library in between that would mend one."""

import asyncio
import dataclasses


class Broken(Exception):
    """What came is no whole message; `at_start` if nothing of it came at all."""

    def __init__(self, why, at_start=False):
        super().__init__(why)
        self.at_start = at_start


@dataclasses.dataclass
class Head:
    """The first line in its three words, and the fields in lower case, several of a name joined."""

    words: list
    fields: dict

    @property
    def status(self):
        return int(self.words[1])


async def read_head(reader):
    """The head of a message."""
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        raise Broken(f"{len(error.partial)} bytes of a head", at_start=not error.partial) from None
    except (ConnectionError, asyncio.LimitOverrunError) as error:
        raise Broken(f"head: {error!r}", at_start=isinstance(error, ConnectionError)) from None
    first, *lines = block.decode("latin-1").split("\r\n")[:-2]
    fields = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise Broken(f"no field: {line[:80]!r}")
        name, value = name.lower(), value.strip()
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return Head(first.split(" ", 2), fields)


async def read_body(reader, head, until_end=False, pause=None):
    """The body that a head announces, whole; `pause` is awaited between pieces."""
    chunks = bytearray()
    try:
        if head.fields.get("transfer-encoding") == "chunked":
            await _read_chunked(reader, chunks, pause)
        elif "content-length" in head.fields:
            await _read_exactly(reader, int(head.fields["content-length"]), chunks, pause)
        elif until_end:
            while piece := await reader.read(1 << 16):
                chunks += piece
    except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
        raise Broken(f"after {len(chunks)} bytes of a body: {error!r}") from None
    return bytes(chunks)


async def _read_chunked(reader, into, pause):
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        if size == 0:
            while await reader.readuntil(b"\r\n") != b"\r\n":
                pass
            return
        await _read_exactly(reader, size, into, pause)
        if await reader.readexactly(2) != b"\r\n":
            raise ValueError("no end of line behind a chunk")


async def _read_exactly(reader, count, into, pause):
    end = len(into) + count
    while len(into) < end:
        piece = await reader.read(min(1 << 16, end - len(into)))
        if not piece:
            raise ValueError(f"the end came {end - len(into)} bytes early")
        into += piece
        if pause:
            await pause()


def chunked(body, size):
    """A body in chunks of a size."""
    pieces = [body[at:at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
