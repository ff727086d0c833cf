"""Foreign decoders on the vectors: python-zstandard and the commands zstd and brotli."""

import hashlib
import json
import subprocess

import zstandard

BODY_MAX = 16 << 20
HEADERS = {"dcz": bytes.fromhex("5e2a4d1820000000"), "dcb": b"\xffDCB"}


def failures(folder):
    """What foreign decoders see otherwise than the index, as sentences."""
    found = []
    for vector in json.loads((folder / "index.json").read_text(encoding="utf-8"))["vectors"]:
        coded, dictionary = (folder / vector["file"]).read_bytes(), (folder / vector["dictionary"]).read_bytes()
        header = HEADERS[vector["coding"]] + hashlib.sha256(dictionary).digest()
        has_header = coded.startswith(header)
        if has_header == (vector.get("error") == "header"):
            found.append(f"{vector['file']}: has its header: {has_header}")
        for name, decode in DECODERS[vector["coding"]] if has_header else []:
            body = decode(coded[len(header):], folder / vector["dictionary"], dictionary)
            if body != expected(vector, folder) and not is_excused(name, vector, body):
                found.append(f"{vector['file']}: {name} makes {body if body is None else len(body)} bytes of it: expected "
                             f"{vector['verdict']} {vector.get('error', '')}")
    return found


def expected(vector, folder):
    return (folder / vector["plain"]).read_bytes() if vector["verdict"] != "invalid" else None


def is_excused(name, vector, body):
    """True where a decoder that is not a client's knows better, or less, than one that is."""
    # It takes a dictionary that begins with the magic number for one in Zstandard's own format.
    is_formatted = name == "zstd" and vector["dictionary"] == "formatted.dictionary"
    # The commands have no limit of the length, and brotli's takes the large-window format.
    is_long = name != "python-zstandard" and body is not None and len(body) == vector.get("decoded_bytes")
    return is_formatted or is_long or (vector["verdict"] == "optional" and body is None)


def by_python(frame, _, dictionary):
    raw = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    try:
        header = zstandard.get_frame_parameters(frame)
        # The length of a frame that says one is not bounded by the call below.
        if header.window_size > 8 << 20 or BODY_MAX < header.content_size < zstandard.CONTENTSIZE_UNKNOWN:
            return None
        return zstandard.ZstdDecompressor(dict_data=raw).decompress(frame, BODY_MAX, allow_extra_data=False)
    except zstandard.ZstdError:
        return None


def by_zstd(frame, file, _):
    return output(["zstd", "-dcq", "--memory=8MB", "-D", str(file)], frame)


def by_brotli(stream, file, _):
    return output(["brotli", "-dc", "-D", str(file)], stream)


def output(command, coded):
    result = subprocess.run(command, input=coded, capture_output=True, timeout=60)
    return None if result.returncode else result.stdout


DECODERS = {"dcz": [("python-zstandard", by_python), ("zstd", by_zstd)], "dcb": [("brotli", by_brotli)]}
