"""A client that keeps connections and dictionaries, and decodes with tools that are not ours."""

import asyncio
import base64
import dataclasses
import hashlib
import re
import ssl
import tempfile
import zlib

import wire

try:
    import zstandard
except ImportError:
    raise SystemExit("/usr/bin/python3 lacks zstandard: run `make soak`, which installs it")

# The magic number before the compressed stream (RFC 9842 sections 4 and 5); the digest follows it.
MAGIC = {"dcz": bytes.fromhex("5e2a4d1820000000"), "dcb": bytes.fromhex("ff444342")}
ANSWER_SECONDS = 60


class Wrong(Exception):
    """An answer that is not what it has to be."""


@dataclasses.dataclass
class Answer:
    """What came, the body as it came."""

    status: int
    fields: dict
    body: bytes


class Client:
    """One connection at a time, plain or TLS, kept as long as the server and the traffic keep it."""

    def __init__(self, port, authority=None):
        self.port, self.reader, self.writer = port, None, None
        self.tls = ssl.create_default_context(cafile=authority) if authority else None
        self.dictionaries, self.ids, self.reopened = {}, {}, 0

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.tls, limit=1 << 18)

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def ask(self, method, target, fields=(), body=b"", in_chunks=0, version="1.1", pause=None):
        """The whole answer to a request. One that a kept connection did not take is sent again on a new one."""
        lines = [f"{method} {target} HTTP/{version}", "Host: soak.test", *(f"{name}: {value}" for name, value in fields)]
        if in_chunks:
            lines.append("Transfer-Encoding: chunked")
            body = wire.chunked(body, in_chunks)
        elif body or method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        request = "\r\n".join([*lines, "", ""]).encode() + body
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                is_kept = self.writer is not None
                if not is_kept:
                    await self.open()
                try:
                    return await self._exchange(method, version, request, pause)
                except wire.Broken as error:
                    self.close()
                    if not (is_kept and error.at_start):
                        raise wire.Broken(f"{method} {target} HTTP/{version} {list(fields)}: {error}") from None
                    self.reopened += 1

    async def _exchange(self, method, version, request, pause):
        try:
            self.writer.write(request)
            await self.writer.drain()
        except ConnectionError:
            pass  # The answer may be there all the same.
        head = await wire.read_head(self.reader)
        while head.status < 200:
            head = await wire.read_head(self.reader)
        body = b""
        if method != "HEAD" and head.status not in (204, 304):
            body = await wire.read_body(self.reader, head, until_end=True, pause=pause)
        is_framed = method == "HEAD" or head.status in (204, 304) or "content-length" in head.fields \
            or "transfer-encoding" in head.fields
        if version == "1.0" or head.fields.get("connection") == "close" or not is_framed:
            self.close()
        return Answer(head.status, head.fields, body)

    # MARK: Dictionaries

    def advertise(self, key):
        """The fields that tell of the dictionary for a key, if there is one."""
        held = self.dictionaries.get(key)
        if not held:
            return []
        fields = [("Available-Dictionary", f":{base64.b64encode(hashlib.sha256(held).digest()).decode()}:")]
        # Proves that it was given to this client, where it is not for everybody.
        return fields + ([("Dictionary-ID", f'"{self.ids[key]}"')] if self.ids.get(key) else [])

    def keep(self, key, answer, body):
        """Keeps a body that is offered as a dictionary."""
        if "use-as-dictionary" in answer.fields:
            self.dictionaries[key] = body
            found = re.search(r', id="([^"]*)"', answer.fields["use-as-dictionary"])
            self.ids[key] = found and found[1]

    async def decoded(self, answer, key=None):
        """The body without its coding."""
        coding = answer.fields.get("content-encoding", "identity")
        if coding in MAGIC:
            return await self._undelta(coding, answer.body, self.dictionaries.get(key))
        return await decode(coding, answer.body)

    async def _undelta(self, coding, body, held):
        if held is None:
            raise Wrong(f"{coding}, and no dictionary was advertised")
        header = MAGIC[coding] + hashlib.sha256(held).digest()
        if not body.startswith(header):
            raise Wrong(f"{coding} with the header {body[:len(header)].hex()}")
        return await decode(coding, body[len(header):], held)


async def decode(coding, body, held=None):
    """What a foreign tool makes of a body."""
    match coding:
        case "identity":
            return body
        case "gzip":
            return zlib.decompress(body, 31)
        case "zstd" | "dcz":
            words = zstandard.ZstdCompressionDict(held, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if held else None
            reader = zstandard.ZstdDecompressor(dict_data=words).decompressobj()
            whole = reader.decompress(body)
            if not reader.eof:
                raise Wrong(f"{coding} without its end")
            return whole
        case "br" | "dcb":
            return await _brotli(body, held)
    raise Wrong(f"an unknown coding: {coding}")


async def _brotli(body, held):
    with tempfile.NamedTemporaryFile() as file:
        file.write(held or b"")
        file.flush()
        words = ["-D", file.name] if held else []
        tool = await asyncio.create_subprocess_exec(
            "brotli", "-d", "-c", *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE)
        whole, complaint = await tool.communicate(body)
    if tool.returncode != 0:
        raise Wrong(f"brotli: {complaint.decode(errors='replace').strip()}")
    return whole


def linked(answer):
    """The path of the dictionary that an answer names, if it names one."""
    found = re.search(r'<(/\.dictum/[^>]+)>; *rel="?compression-dictionary', answer.fields.get("link", ""))
    return found.group(1) if found else None
