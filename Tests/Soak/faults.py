"""Clients that do what none should, and those who meet an upstream that does."""

import asyncio
import random

import origin
import wire
from client import Client, Wrong

# The statuses that each upstream fault may cause; `None` means that the response breaks off.
OUTCOMES = {
    "reset": {502}, "reset-in-body": {502, None}, "stall": {504}, "stall-in-body": {502, 504, None}, "short": {502, None},
    "long": {200, 502, None}, "garbage": {502}, "chunk-garbage": {502, None}, "drip": {502, 504, None}, "early": {200},
    "bomb": {200},
}
PATIENCE_SECONDS = 60


async def meet_upstream_fault(proxy):
    """Asks for a path on which the upstream misbehaves."""
    kind = random.choice(origin.FAULTS)
    client = Client(proxy.port)
    body = random.randbytes(400_000) if kind == "early" else b""
    try:
        answer = await client.ask("POST" if body else "GET", f"/fault/{kind}", [("Accept-Encoding", "identity")], body)
        status = answer.status
        if b"stolen" in answer.body:
            raise Wrong(f"/fault/{kind}: bytes behind the answer went through")
        if kind == "bomb" and answer.body != bytes(origin.BOMB_MEBIBYTES << 20):
            raise Wrong(f"/fault/{kind}: {len(answer.body)} other bytes")
    except wire.Broken:
        status = None
    finally:
        client.close()
    if status not in OUTCOMES[kind]:
        raise Wrong(f"/fault/{kind}: {status}, which is none of {OUTCOMES[kind]}")
    return f"upstream {kind}"


async def misbehave(proxy):
    """One client that does what none should; it has to be let go in time."""
    act = random.choice([_leave_in_answer, _leave_in_request, _slow_head, _slow_body, _garbage, _read_nothing,
                         _garbage_tls, _connect_only])
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", proxy.tls_port if act is _garbage_tls else proxy.port)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await act(reader, writer)
    except ConnectionError:
        pass
    except TimeoutError:
        raise Wrong(f"{act.__name__[1:]}: still there after {PATIENCE_SECONDS} s") from None
    finally:
        writer.transport.abort()
    return act.__name__[1:].replace("_", " ")


async def _leave_in_answer(reader, writer):
    writer.write(b"GET /large/1 HTTP/1.1\r\nHost: soak.test\r\nAccept-Encoding: br\r\n\r\n")
    await reader.readexactly(random.choice([1, 1000, 20_000]))


async def _leave_in_request(reader, writer):
    writer.write(b"POST /echo HTTP/1.1\r\nHost: soak.test\r\nContent-Length: 100000\r\n\r\n" + b"x" * 1000)
    await writer.drain()
    await asyncio.sleep(random.random() * 0.2)


async def _slow_head(reader, writer):
    await _drip(reader, writer, b"GET / HTTP/1.1\r\nHost: soak.test\r\nX-Never: ends")


async def _slow_body(reader, writer):
    writer.write(b"POST /echo HTTP/1.1\r\nHost: soak.test\r\nContent-Length: 100000\r\n\r\n")
    await _drip(reader, writer, b"x" * 1000)


async def _drip(reader, writer, data):
    """Sends byte after byte until the other side has had enough."""
    end = asyncio.ensure_future(reader.read(1 << 16))
    for at in range(len(data)):
        if end.done() or writer.is_closing():
            break
        writer.write(data[at:at + 1])
        await asyncio.wait([end], timeout=0.2)
    await end
    while await reader.read(1 << 16):
        pass


async def _garbage(reader, writer):
    writer.write(random.choice([
        random.randbytes(2000), b"\r\n" * 5000, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: soak.test\r\nX: " + b"x" * 70_000,
        b"POST /echo HTTP/1.1\r\nHost: soak.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ]))
    while await reader.read(1 << 16):
        pass


async def _garbage_tls(reader, writer):
    writer.write(random.randbytes(500))
    while await reader.read(1 << 16):
        pass


async def _read_nothing(reader, writer):
    reader._limit = 1  # asyncio then stops reading the socket after two bytes.
    writer.write(100 * b"GET /large/0 HTTP/1.1\r\nHost: soak.test\r\n\r\n")
    await asyncio.sleep(20)


async def _connect_only(reader, writer):
    await asyncio.sleep(random.random() * 3)
