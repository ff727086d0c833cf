"""What `dictum estimate` promises from polling an API, and what a deployment on the same API then measures; and the same of
observe mode.

An origin changes its response by the clock, through a history. `dictum estimate` polls the origin, while clients ask Dictum in
front of it: each returns at random times, keeps what it is offered with its id for as long as the response is fresh, and
compares every body. Both see the same versions.

Observe mode sees the same history before, and the same clients, who know nothing of dictionaries then."""

import asyncio
import base64
import collections
import contextlib
import hashlib
import json
import multiprocessing
import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.request
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Soak"))
import servers  # noqa: E402
import wire  # noqa: E402
from table import Row  # noqa: E402

CLIENTS = 240
# How often clients return: the mean seconds, and the share in percent. The model has the same kinds.
MIX = [(4, 20), (12, 40), (40, 40)]
LIFE = 15
PERIOD = 8
# Dictum closes connections that are idle for longer than 75 seconds.
IDLE_MOST = 60
# The deviations that are allowed: of bytes, and of a share in points.
BYTES_MOST, POINTS_MOST = 1.05, 1.05
_DCZ = bytes.fromhex("5e2a4d1820000000")


def rows(bench, versions):
    """All rows of this file; each history takes its number of versions times eight seconds."""
    seconds = PERIOD * len(versions)
    with _origin(versions) as port:
        dictum = bench.start(
            servers.Dictum, Port(port), bench.binary, "dictum-estimates", None, None, None)
        mix = ",".join(f"{mean}s:{share}%" for mean, share in MIX)
        command = [
            bench.binary, "estimate", f"http://127.0.0.1:{port}/feed", "--json", "--every", "2s", "--for",
            f"{seconds - 3}s", "--clients", str(CLIENTS), "--returns", mix, "--simulate", f"{seconds}s"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as estimate:
            seen = asyncio.run(_Crowd(versions, dictum.port, seconds).run())
            text, _ = estimate.communicate(timeout=300)
        if estimate.returncode:
            raise SystemExit("dictum estimate failed")
        dictum.stop()
    return list(_compare(json.loads(text)["resources"][0], seen, len(versions[0])))


def observed_rows(bench, versions):
    """What observe mode promises, and what a deployment then measures; twice as long as `rows`."""
    report, _ = _watch(bench, versions, "dictum-observed", False, mode="observe")
    _, seen = _watch(bench, versions, "dictum-deployed", True)
    (route,) = report["routes"]
    promised = route["observed"]
    title = f"{len(versions[0]) / 1000:.0f} KB, observed"
    measured = promised["measured"]
    yield _row(f"{title}: bytes per delta", seen.delta_bytes / seen.deltas,
               measured["delta_bytes"] / measured["count"], f"promised, of {measured['count']} deltas")
    for age in promised["ages"]:
        back, sizes = age.get("versions_back_max"), age["sizes"]
        if back == 1 and sizes["count"] and (mean := seen.mean(back)):
            yield _row(f"{title}: bytes of dcz, {back} back", mean, sizes["delta_bytes"] / sizes["count"], "promised")
    share, holders = seen.deltas / seen.returns, promised["deltas"] / promised["returns"]
    yield Row(f"{title}: returning clients with a dictionary", f"{share:.1%}", f"{holders:.1%}",
              f"promised; {promised['returns']} and {seen.returns} returns", 1 + abs(share - holders), "at most",
              POINTS_MOST)
    cost = report["observing"]
    yield Row(f"{title}: share of a core", f"{cost['cpu_used']:.1%}", f"{cost['cpu_allowed']:.1%}",
              f"allowed; {promised['skipped']} responses skipped, {cost['client_share']:.0%} of clients",
              cost["cpu_used"] / cost["cpu_allowed"], "at most", 1.0)


def _watch(bench, versions, name, knows_dictionaries, **settings):
    """Has a crowd live through a history before a Dictum; what its report says, and what the clients have seen."""
    with _origin(versions) as port:
        dictum = bench.start(servers.Dictum, Port(port), bench.binary, name, None, None, None, **settings)
        crowd = _Crowd(versions, dictum.port, PERIOD * len(versions), knows_dictionaries)
        seen = asyncio.run(crowd.run())
        with urllib.request.urlopen(f"http://127.0.0.1:{dictum.admin_port}/report", timeout=30) as answer:
            report = json.load(answer)
        dictum.stop()
    return report, seen


def _compare(promised, seen, size):
    title = f"{size / 1000:.0f} KB, {promised['versions']} versions"
    for deltas in promised["deltas"]:
        back = deltas["versions_back"]
        if sizes := seen.sizes(back):
            # Deltas that few share have the first size, others that of the strongest pass: the mix is in the next row.
            costs = [deltas["dcz"][name] for name in ["first_bytes", "bytes", "strongest_bytes"]]
            nearest = min(costs, key=lambda cost: abs(cost - sizes))
            yield _row(f"{title}: bytes of dcz, {back} back", sizes, nearest, f"promised: {costs}")
    outcome = promised["clients"]["as_is"]
    yield _row(f"{title}: bytes per delta, for this mix of clients", seen.delta_bytes / seen.deltas,
               outcome["delta_bytes"], "promised")
    share = seen.deltas / seen.returns
    yield Row(f"{title}: returning clients with a dictionary", f"{share:.1%}", f"{outcome['holder_share']:.1%}",
              f"promised; {seen.returns} returns", 1 + abs(share - outcome["holder_share"]), "at most", POINTS_MOST)


def _row(title, measured, promised, note):
    ratio = max(measured, promised) / min(measured, promised)
    return Row(title, f"{measured:,.0f}", f"{promised:,.0f}", note, ratio, "at most", BYTES_MOST)


class Port:
    """A server of which the proxy needs the port alone."""

    def __init__(self, port):
        self.port = port


@contextlib.contextmanager
def _origin(versions):
    """An origin in a process of its own, whose history begins with the first request; its port."""
    port = multiprocessing.Value("i", 0)
    told = multiprocessing.Event()
    upstream = multiprocessing.Process(target=_serve_origin, args=(versions, told, port), daemon=True)
    upstream.start()
    try:
        if not told.wait(30):
            raise SystemExit("the origin did not start")
        yield port.value
    finally:
        upstream.kill()
        upstream.join()


def _serve_origin(versions, told, port):
    start = None

    async def serve(reader, writer):
        nonlocal start
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                start = start or time.monotonic()
                number = min(int((time.monotonic() - start) / PERIOD), len(versions) - 1)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: public, max-age=%d\r\n"
                    b"X-Which: %d\r\nContent-Length: %d\r\n\r\n" % (LIFE, number, len(versions[number]))
                    + versions[number])
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
        self.returns = self.deltas = self.delta_bytes = 0
        # The sizes of deltas, by the versions of dictionary and body.
        self.pairs = collections.defaultdict(list)

    def sizes(self, back):
        """The mean over pairs of versions so far apart, each pair counted once, as in the estimate."""
        means = [sum(sizes) / len(sizes) for (old, new), sizes in self.pairs.items() if new - old == back]
        return sum(means) / len(means) if means else None

    def mean(self, back):
        """The mean over all deltas over versions so far back."""
        sizes = [size for (old, new), sizes in self.pairs.items() if new - old == back for size in sizes]
        return sum(sizes) / len(sizes) if sizes else None


class _Crowd:
    def __init__(self, versions, port, seconds, knows_dictionaries=True):
        self.versions, self.port, self.seconds = versions, port, seconds
        self.knows_dictionaries = knows_dictionaries
        self.digests = [base64.b64encode(hashlib.sha256(body).digest()).decode() for body in versions]
        self.seen = _Seen()
        self.random = random.Random(7)

    async def run(self):
        means = [mean for mean, share in MIX for _ in range(CLIENTS * share // 100)]
        end = time.monotonic() + self.seconds
        await asyncio.gather(*(self._live(number, mean, end) for number, mean in enumerate(means)))
        return self.seen

    async def _live(self, number, mean, end):
        """One client, which keeps its connection."""
        held, has_fetched = None, False
        reader = writer = None
        while True:
            pause = self.random.expovariate(1 / mean)
            if time.monotonic() + pause >= end:
                break
            await asyncio.sleep(pause)
            if writer and pause > IDLE_MOST:
                writer.close()
                writer = None
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 17)
            if held and time.monotonic() >= held[2]:
                held = None
            coding, which, received, offer = await self._ask(reader, writer, number, held)
            self.seen.returns += has_fetched
            has_fetched = True
            if coding == "dcz":
                self.seen.deltas += 1
                self.seen.delta_bytes += len(received)
                self.seen.pairs[held[0], which].append(len(received))
            if offer and not self.knows_dictionaries:
                raise SystemExit("observe mode has offered a dictionary")
            if offer:
                held = (which, offer, time.monotonic() + LIFE)
        if writer:
            writer.close()

    async def _ask(self, reader, writer, number, held):
        lines = [
            "GET /feed HTTP/1.1", "Host: api.test", f"X-Forwarded-For: 203.0.113.{number % 250}",
            "X-Forwarded-Proto: https", "Accept-Encoding: gzip, br, zstd" + (", dcb, dcz" if held else "")]
        if held:
            lines += [f"Available-Dictionary: :{self.digests[held[0]]}:"]
            if held[1] != "none":
                lines += [f'Dictionary-ID: "{held[1]}"']
        writer.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(60):
            head = await wire.read_head(reader)
            received = await wire.read_body(reader, head)
        which = int(head.fields["x-which"])
        coding = head.fields.get("content-encoding", "identity")
        self._check(coding, received, held, which)
        offer = head.fields.get("use-as-dictionary")
        found = re.search(r'id="([^"]*)"', offer or "")
        return coding, which, received, (found[1] if found else "none") if offer else None

    def _check(self, coding, received, held, which):
        if coding == "dcz":
            import zstandard

            dictionary = self.versions[held[0]]
            header = _DCZ + hashlib.sha256(dictionary).digest()
            words = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            decoder = zstandard.ZstdDecompressor(dict_data=words).decompressobj()
            whole = received.startswith(header) and decoder.decompress(received[len(header):])
        elif coding == "gzip":
            whole = zlib.decompress(received, 31)
        elif coding == "identity":
            whole = received
        else:
            return
        if whole != self.versions[which]:
            raise SystemExit(f"a wrong body: {coding}, version {which}")
