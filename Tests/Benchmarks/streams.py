#!/usr/bin/env python3
"""What an event costs for each of many subscribers of event streams, by the coding that they accept.

Each subscriber has a stream of its own from the origin, since nothing is answered from the store. An event is a list of rows in
JSON, of which one changes with each event. Prints a table in Markdown."""

import argparse
import asyncio
import base64
import hashlib
import json
import multiprocessing
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Soak"), str(HERE.parent / "Attack")]
import feed  # noqa: E402
import servers  # noqa: E402
import wire  # noqa: E402

ACCEPTED = ["identity", "gzip", "zstd", "dcz", "dcb", "dcb, dcz"]
ROWS, DICTIONARY_ROWS = 25, 90
# Before the figures begin, so that every encoder has been made.
FIRST_EVENTS = 5
PERIOD_SECONDS = 0.25


def _rows(count, number):
    """Rows of which one differs from those of the number before."""
    return json.dumps([feed.row("/stream", place, (number + place) // count) for place in range(count)], indent=0).encode()


def event(number):
    return b"id: %d\ndata: %b\n\n" % (number, _rows(ROWS, number).replace(b"\n", b" "))


async def _serve(port):
    """The origin: `/stream/now` is the dictionary, any other path a stream that gets what `/stream/send` makes all get."""
    streams, sent = [], 0

    async def connected(reader, writer):
        nonlocal sent
        try:
            while True:
                target = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
                if target == b"/stream/now":
                    body = _rows(DICTIONARY_ROWS, 0)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 b"Cache-Control: public, max-age=600\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                elif target == b"/stream/send":
                    for stream in streams:
                        stream.write(wire.chunked(event(sent), 1 << 16)[:-5])
                    sent += 1
                    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                else:
                    streams.append(writer)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                 b"Cache-Control: public, max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            if writer in streams:
                streams.remove(writer)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
    port.value = server.sockets[0].getsockname()[1]
    await server.serve_forever()


class Origin:
    """The origin in a process of its own."""

    def __init__(self):
        number = multiprocessing.Value("i", 0)
        self.process = multiprocessing.Process(target=lambda: asyncio.run(_serve(number)), daemon=True)
        self.process.start()
        while not number.value:
            self.process.join(0.02)
        self.port = number.value


async def _ask(port, target, *fields):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([f"GET {target} HTTP/1.1", "Host: api.test", *fields, "", ""]).encode())
    head = await wire.read_head(reader)
    body = await wire.read_body(reader, head)
    writer.close()
    return head, body


async def _subscribe(port, number, accepted, dictionary):
    """A subscriber at an address of its own; returns the head of its stream and the reader of the rest."""
    digest = base64.b64encode(hashlib.sha256(dictionary).digest()).decode()
    lines = ["GET /stream/events HTTP/1.1", "Host: api.test", f"Accept-Encoding: {accepted}",
             f"Available-Dictionary: :{digest}:", "", ""]
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, local_addr=(f"127.0.{1 + number // 250}.{1 + number % 250}", 0))
    writer.write("\r\n".join(lines).encode())
    return await wire.read_head(reader), reader, writer


class Subscriber:
    """Counts the bytes of a stream, without the frames of its chunks."""

    def __init__(self, reader):
        self.reader, self.bytes, self.pieces = reader, 0, 0

    async def run(self):
        while size := int(await self.reader.readline(), 16):
            await self.reader.readexactly(size + 2)
            self.bytes += size
            self.pieces += 1


async def measure(proxy, origin, accepted, count, events):
    """Bytes and seconds of the processor of an event for each subscriber, and the memory of a subscriber in bytes."""
    _, dictionary = await _ask(proxy.port, "/stream/now", "Accept-Encoding: identity")
    base = proxy.resident_bytes()
    joined = [await _subscribe(proxy.port, number, accepted, dictionary) for number in range(count)]
    codings = {head.fields.get("content-encoding", "identity") for head, _, _ in joined}
    if len(codings) > 1:
        raise SystemExit(f"streams: those that accept {accepted} got {codings}: give the proxy more memory.coding")
    subscribers = [Subscriber(reader) for _, reader, _ in joined]
    tasks = [asyncio.ensure_future(subscriber.run()) for subscriber in subscribers]

    async def send(number):
        for _ in range(number):
            await _ask(origin.port, "/stream/send")
            await asyncio.sleep(PERIOD_SECONDS)
        await asyncio.sleep(1)

    await send(FIRST_EVENTS)
    used, bytes_before = proxy.processor_seconds(), sum(subscriber.bytes for subscriber in subscribers)
    await send(events)
    used = proxy.processor_seconds() - used
    received = sum(subscriber.bytes for subscriber in subscribers) - bytes_before
    memory = proxy.resident_bytes() - base
    if any(subscriber.pieces < FIRST_EVENTS + events for subscriber in subscribers):
        raise SystemExit(f"streams: not every subscriber got each event within {PERIOD_SECONDS} s")
    for task, (_, _, writer) in zip(tasks, joined):
        task.cancel()
        writer.transport.abort()
    await asyncio.gather(*tasks, return_exceptions=True)
    return codings.pop(), received / events / count, used / events / count, memory / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the dictum to measure")
    parser.add_argument("--subscribers", type=int, default=500)
    parser.add_argument("--events", type=int, default=40)
    options = parser.parse_args()
    print("| accepted | coding | bytes | CPU | memory |\n|---|---|---|---|---|")
    for accepted in ACCEPTED:
        with tempfile.TemporaryDirectory(prefix="dictum-streams-") as directory:
            origin = Origin()
            proxy = servers.Dictum(
                pathlib.Path(directory), origin, options.binary, compression={"types": ["application/json", "text/event-stream"]},
                routes=[{"match": "/stream/*", "dictionary": {"covers": "pattern"}}],
                memory=servers.budgets(coding=20 * options.subscribers, store=32, prepared=16), trusted_proxies=["unix"])
            try:
                proxy.wait()
                coding, size, seconds, memory = asyncio.run(
                    measure(proxy, origin, accepted, options.subscribers, options.events))
            finally:
                proxy.stop()
                origin.process.kill()
        print(f"| {accepted} | {coding} | {size:,.0f} | {1e6 * seconds:.0f} µs | {memory / 1024:,.0f} KiB |", flush=True)


if __name__ == "__main__":
    main()
