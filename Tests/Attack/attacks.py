"""One client that wants the others to have nothing: each attack makes its next request."""

import asyncio
import base64
import hashlib
import os
import random
import time

import feed
import wire

ADDRESS = "127.0.2.1"
RATE = 200
CONNECTIONS = 16


def _request(target, *fields, host="api.test"):
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Accept-Encoding: gzip, dcz", *fields]
    return "\r\n".join([*lines, "", ""]).encode()


def _operation(number):
    """A response to POST under an operation that nobody else names."""
    body = feed.operation(f"{number}-{random.getrandbits(40):x}")
    lines = [f"POST {feed.OPERATIONS} HTTP/1.1", "Host: api.test", "Accept-Encoding: gzip, dcz", *feed.content_fields(body)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _digest(body=None):
    digest = hashlib.sha256(body).digest() if body else os.urandom(32)
    return f"Available-Dictionary: :{base64.b64encode(digest).decode()}:"


def _pattern(number):
    """A chain with a costly pattern, or a long path and a body that many such chains hold."""
    if number % 4:
        return _request(f"/pattern/{number}")
    return _request("/" + "a" * 7000, _digest(feed.body(_feed(), feed.version())))


def _over_popular(number):
    """A body of its own over what the honest clients hold: whoever guesses a digest may name it."""
    path = f"/feed/{number % 5}"
    return _request(path, _digest(feed.body(path, feed.version())), f"X-New: {number}-{random.getrandbits(40)}")


def _login(number):
    """A personal body of somebody who never comes back."""
    return _request(f"/mine/{number % 50}", f"Authorization: Bearer {number}-{random.getrandbits(40):x}")


def _feed():
    return f"/feed/{random.randrange(10)}"


ATTACKS = {
    "hosts": lambda number: _request(_feed(), host=f"h{number}.{random.getrandbits(40):x}.test"),
    "queries": lambda number: _request(f"{_feed()}?page={number}-{random.getrandbits(40)}"),
    "languages": lambda number: _request(_feed(), f"Accept-Language: x-{number}-{random.getrandbits(40):x}"),
    "digests": lambda number: _request(f"{_feed()}?q={number}", _digest()),
    "newcomers": lambda number: _request(f"/feed/new-{number}-{random.getrandbits(40)}"),
    "patterns": _pattern,
    "fields": lambda number: _request(
        f"/fresh/{random.randrange(3)}", random.choice(["X-Host: ", "X-Forwarded-Prefix: //"]) + "evil.test"),
    "many fields": lambda number: _request(_feed(), *(f"X-{name}-{number}: {'y' * 20}" for name in range(400))),
    "popular": _over_popular,
    "logins": _login,
    "operation names": _operation,
    "bodies": lambda number: _request(_feed(), f"X-New: {number}-{random.getrandbits(40)}"),
}


async def run(name, port, seconds, rate=RATE):
    """Sends the requests of an attack at a rate; returns how many were answered."""
    make, began, answered = ATTACKS[name], time.monotonic(), 0
    turns = asyncio.Queue(maxsize=rate)

    async def work():
        nonlocal answered
        reader = writer = None
        while True:
            number = await turns.get()
            try:
                if not writer:
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", port, local_addr=(ADDRESS, 0), limit=1 << 17)
                writer.write(make(number))
                async with asyncio.timeout(30):
                    head = await wire.read_head(reader)
                    await wire.read_body(reader, head)
                answered += 1
                if head.fields.get("connection") == "close":
                    raise wire.Broken("closed")
            except (wire.Broken, OSError, TimeoutError):
                if writer:
                    writer.transport.abort()
                reader = writer = None

    workers = [asyncio.create_task(work()) for _ in range(CONNECTIONS)]
    number = 0
    while (elapsed := time.monotonic() - began) < seconds:
        while number < elapsed * rate and not turns.full():
            turns.put_nowait(number)
            number += 1
        await asyncio.sleep(0.005)
    # Workers that still wait for a response are late by more than the attack's time.
    await asyncio.wait(workers, timeout=1)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return answered
