"""A client of RFC 9842: keeps what is offered to it, sends it back, and decodes with libraries that are not Dictum's."""

import base64
import hashlib
import http.client
import re
import subprocess
import tempfile
import zlib

import brotli
import zstandard

DCB_MAGIC = b"\xffDCB"
DCZ_MAGIC = b"\x5e\x2a\x4d\x18\x20\x00\x00\x00"


class Wrong(Exception):
    """A response that must not be."""


class Dictionary:
    """A response that was offered as a dictionary."""

    def __init__(self, field, path, body):
        self.body = body
        self.digest = hashlib.sha256(body).digest()
        parameters = dict(re.findall(r'([a-z-]+)="((?:[^"\\]|\\.)*)"', field))
        self.pattern = pattern(re.sub(r"\\(.)", r"\1", parameters.get("match", path)))
        self.id = parameters.get("id")


def pattern(match):
    """The regular expression of a `match` with wildcards, optional groups and escapes; without a query it fits any."""
    text, has_query, index = "", False, 0
    while index < len(match):
        character = match[index]
        if character == "\\":
            index += 1
            has_query = has_query or match[index] == "?"
            text += re.escape(match[index])
        elif character == "*":
            text += ".*"
        elif character == "{":
            text += "(?:"
        elif character == "}":
            is_optional = match[index + 1:index + 2] == "?"
            text += ")?" if is_optional else ")"
            index += is_optional
        else:
            has_query = has_query or character == "?"
            text += re.escape(character)
        index += 1
    return re.compile(text + ("" if has_query else r"(\?.*)?"))


class Response:
    def __init__(self, status, headers, coding, coded_bytes, body):
        self.status = status
        self.headers = headers
        self.coding = coding
        self.coded_bytes = coded_bytes
        self.body = body

    @property
    def is_delta(self):
        return self.coding in ["dcb", "dcz"]

    @property
    def gzip_bytes(self):
        """What nginx sends with gzip_comp_level 6."""
        compressor = zlib.compressobj(6, zlib.DEFLATED, 31, 8)
        return len(compressor.compress(self.body) + compressor.flush())


class Client:
    """One user agent: its cookies and its dictionaries, which no other one sees."""

    def __init__(self, port, connection=None):
        self.connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.cookies = {}
        self.dictionaries = {}

    def fetch(self, path, fields=(), codings="gzip, br, zstd, dcb, dcz", body=None):
        headers = {"Host": "gallery.test", "Accept": "*/*", "Accept-Encoding": codings, **dict(fields)}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        held = self.dictionary(path)
        if held:
            headers["Available-Dictionary"] = f":{base64.b64encode(held.digest).decode()}:"
            if held.id:
                headers["Dictionary-ID"] = f'"{held.id}"'
        self.connection.request("GET" if body is None else "POST", path, body, headers)
        raw = self.connection.getresponse()
        coded = raw.read()
        for field in raw.headers.get_all("Set-Cookie") or []:
            name, _, value = field.partition(";")[0].partition("=")
            self.cookies[name] = value
        response = self.decoded(raw, coded, held)
        offer = raw.headers.get("Use-As-Dictionary")
        if offer and raw.status == 200:
            self.keep(Dictionary(offer, path, response.body))
        return response

    def keep(self, dictionary):
        # Browsers keep one dictionary of each match, the newest.
        self.dictionaries[dictionary.pattern.pattern] = dictionary

    def dictionary(self, path):
        fitting = [held for held in self.dictionaries.values() if held.pattern.fullmatch(path)]
        return max(fitting, key=lambda held: len(held.pattern.pattern), default=None)

    def decoded(self, raw, coded, held):
        coding = raw.headers.get("Content-Encoding", "identity")
        if coding in ["dcb", "dcz"] and not held:
            raise Wrong(f"{coding} for a client that holds no dictionary")
        body = decode(coding, coded, held)
        expected = raw.headers.get("X-Gallery-Digest")
        if expected and hashlib.sha256(body).hexdigest() != expected:
            raise Wrong(f"the {coding} body is not what the application sent")
        return Response(raw.status, raw.headers, coding, len(coded), body)


def decode(coding, coded, held):
    if coding == "identity":
        return coded
    if coding == "gzip":
        return zlib.decompress(coded, 31)
    if coding == "br":
        return brotli.decompress(coded)
    if coding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(coded)
    magic = DCZ_MAGIC if coding == "dcz" else DCB_MAGIC
    header = magic + held.digest
    if not coded.startswith(header):
        raise Wrong(f"{coding} over a dictionary that was not advertised")
    if coding == "dcz":
        raw = zstandard.ZstdCompressionDict(held.body, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        return zstandard.ZstdDecompressor(dict_data=raw).decompressobj().decompress(coded[len(header):])
    # The module has no dictionaries of raw bytes, the command has.
    with tempfile.NamedTemporaryFile() as file:
        file.write(held.body)
        file.flush()
        return subprocess.run(
            ["brotli", "-d", "-c", "-D", file.name], input=coded[len(header):], capture_output=True, check=True,
            timeout=30).stdout
