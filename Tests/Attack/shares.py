"""Clients that want more than their share: of places at the upstream, memory, announcements, ids, and a route's limit.

Each attack looks itself at what it must not reach, and counts each breach; the honest clients of the crowd look at the rest."""

import asyncio
import base64
import hashlib
import random
import re
import time

import feed
import frames
import hpack
import wire

# The attacker's networks; the crowd has 127.0.1.0/24.
ADDRESSES = [f"127.0.2.{number}" for number in range(1, 9)]
_BREACHES = []


def breach(text):
    """Notes something that the attacker should not have reached."""
    _BREACHES.append(text)


def breaches():
    return _BREACHES[:20]


async def _ask(port, target, *fields, address=ADDRESSES[0], seconds=30):
    """One request on a connection of its own; returns the head and the body."""
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=1 << 17)
        try:
            lines = [f"GET {target} HTTP/1.1", "Host: api.test", *fields]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = await wire.read_head(reader)
            return head, await wire.read_body(reader, head)
        finally:
            writer.transport.abort()


# MARK: HTTP/2 connections that ask for much and take nothing


async def _connections(port, seconds, count, first, paths, pause):
    """Keeps `count` connections from all addresses, each with a hundred requests at a time; returns how many were sent."""
    end, sent = time.monotonic() + seconds, 0

    async def one(place):
        nonlocal sent
        while time.monotonic() < end:
            writer = None
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port, local_addr=(ADDRESSES[place % len(ADDRESSES)], 0))
                writer.write(frames.PREFACE + first(place))
                encoder = hpack.Encoder()
                for number in range(100):
                    block = encoder.encode([(":method", "GET"), (":scheme", "http"), (":authority", "api.test"),
                                            (":path", paths(place, number)), ("accept-encoding", "gzip, dcz, br, zstd")])
                    writer.write(frames.frame(
                        frames.HEADERS, frames.END_STREAM | frames.END_HEADERS, 2 * number + 1, block))
                    sent += 1
                await writer.drain()
                # Until the server ends it, or it is time for another.
                async with asyncio.timeout(min(pause, max(0, end - time.monotonic()))):
                    while await reader.read(1 << 16):
                        pass
            except (OSError, TimeoutError):
                pass
            finally:
                if writer:
                    writer.transport.abort()
            await asyncio.sleep(0.2)

    await asyncio.gather(*(one(place) for place in range(count)))
    return sent


async def slow_requests(port, seconds):
    """Requests that the upstream answers after half a minute, as many as HTTP/2 allows."""
    return await _connections(
        port, seconds, 12 * len(ADDRESSES) // 4, lambda place: frames.settings(), lambda place, number: f"/slow/{place}/{number}", 20)


async def held_bodies(port, seconds):
    """Large bodies and then smaller ones for windows that never open, or by a single byte."""
    closed = [frames.settings((frames.INITIAL_WINDOW_SIZE, window)) for window in (0, 1)]
    return await _connections(
        port, seconds, 24, lambda place: closed[place % 2],
        lambda place, number: f"/large/{place}-{number}" if number < 20 else f"/feed/{number % 10}", 20)


# MARK: Other spellings of a limited path


SPELLINGS = ["/x//../login", "/login", "/%6Cogin", "//login", "/./login", "/x/../login", "/login/.", "/login%2F", "/x/%2e%2e/login",
             "/%2e/login", "/x%2f..%2flogin", "/login%2f.", "\\login", "/\\login", "///login", "/log%69n", "/login/x/.."]


async def spellings(port, seconds):
    """Tries a path that allows two requests of one client in an hour, in every spelling."""
    end, sent, reached = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        for spelling in SPELLINGS:
            try:
                head, body = await _ask(port, spelling)
            except (wire.Broken, OSError, TimeoutError):
                continue
            sent += 1
            reached += head.status == 200 and b"logged in" in body
            if reached > 2:
                breach(f"{reached} requests reached the limited path, the last as {spelling}")
                return sent
            await asyncio.sleep(0.01)
    return sent


# MARK: Ids of others


async def promised_ids(port, seconds):
    """Forty users get bodies that end late; the attacker asks for many such bodies; then the users return."""
    users = []
    for number in range(40):
        token, path = f"Authorization: Bearer user-{number}", f"/late/{number}"
        head, body = await _ask(port, path, token, address=f"127.0.3.{number + 1}")
        found = re.search(r'\bid="([^"]*)"', head.fields.get("use-as-dictionary", ""))
        if not found:
            breach(f"{path} was not offered")
            continue
        users.append((path, token, number, body, found[1]))
    sent = await _many_late(port, max(1, seconds - 10))
    misses = 0
    for path, token, number, body, identifier in users:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        head, _ = await _ask(port, path, token, "Accept-Encoding: dcz", f"Available-Dictionary: :{digest}:",
                             f'Dictionary-ID: "{identifier}"', address=f"127.0.3.{number + 1}")
        misses += head.fields.get("content-encoding") != "dcz"
    if misses > 2:
        breach(f"{misses} of {len(users)} users lost their dictionaries after {sent} requests of the attacker")
    return sent


async def _many_late(port, seconds):
    """Asks for late bodies, as many as one address gets."""
    end, sent = time.monotonic() + seconds, 0

    async def one():
        nonlocal sent
        reader = writer = None
        while time.monotonic() < end:
            try:
                if not writer:
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", port, local_addr=(ADDRESSES[0], 0), limit=1 << 17)
                request = [f"GET /late/x{random.getrandbits(40)} HTTP/1.1", "Host: api.test",
                           f"Authorization: Bearer {random.getrandbits(40):x}"]
                writer.write("\r\n".join([*request, "", ""]).encode())
                async with asyncio.timeout(30):
                    head = await wire.read_head(reader)
                    await wire.read_body(reader, head)
                sent += 1
            except (wire.Broken, OSError, TimeoutError):
                if writer:
                    writer.transport.abort()
                reader = writer = None
        if writer:
            writer.transport.abort()

    await asyncio.gather(*(one() for _ in range(64)))
    return sent


# MARK: Announcements of useless dictionaries


PAGE = ("Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: none", "Accept-Encoding: gzip, dcz")
SCRIPT = ("Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin",
          "Referer: http://api.test/page", "Accept-Encoding: gzip, dcz")


async def announcements(port, seconds):
    """Forty visitors fetch what a page uses; sixty bought addresses fetch exports with its name, and new visitors come."""
    for number in range(40):
        await _visit(port, f"127.0.4.{number + 1}", "/stable/used")
    paid = sent = wasted = visits = missing = 0
    end = time.monotonic() + max(5, seconds - 5)
    bought = iter(range(1, 250))
    while time.monotonic() < end and visits < 120:
        # One more for each visitor, so that they stay the more.
        for number in [next(bought, None) for _ in range(60 if visits == 0 else 1)]:
            for export in range(4 if number else 0):
                head, body = await _ask(port, f"/export/{export}", *SCRIPT, address=f"127.0.5.{number}")
                paid += len(body)
                sent += 1
        visits += 1
        useful = False
        links = await _visit(port, f"127.0.6.{visits}", "/stable/used")
        for url in re.findall(r"<([^>]*)>[^,]*compression-dictionary", links):
            head, body = await _ask(port, url, "Accept-Encoding: gzip", address=f"127.0.6.{visits}")
            is_useful = b"/stable/used" in _plain(head, body)[:200]
            useful = useful or is_useful
            wasted += 0 if is_useful else len(body)
        missing += not useful
        await asyncio.sleep(0.02)
    if wasted > 2 * paid:
        breach(f"visitors downloaded {wasted} bytes of useless dictionaries, for which the attacker paid {paid}")
    if missing > visits // 10:
        breach(f"{missing} of {visits} visitors were not told of the dictionary that their page uses")
    return sent


def _plain(head, body):
    import gzip

    return gzip.decompress(body) if head.fields.get("content-encoding") == "gzip" else body


async def _visit(port, address, path):
    """A visitor of the page, whose script fetches a path; returns the page's Link."""
    head, _ = await _ask(port, "/page", *PAGE, address=address)
    await _ask(port, path, *SCRIPT, address=address)
    return head.fields.get("link", "")


ATTACKS = {
    "spellings": spellings,
    "slow requests": slow_requests,
    "held bodies": held_bodies,
    "promised ids": promised_ids,
    "announcements": announcements,
}
