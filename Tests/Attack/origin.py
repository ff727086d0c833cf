"""The API that is attacked: it does what real ones do, and what helps the attacker."""

import asyncio
import hashlib
import itertools
import json
import posixpath
import urllib.parse

import feed

_numbers = itertools.count()
# Made once, so that a burst of large bodies does not make everybody wait for the origin.
LARGE = feed.fresh("large") * 79
PIECE = 1 << 16
# Patterns that a hostile part of the upstream may write: nested repetitions, many wildcards, long text behind one.
PATTERNS = [
    '/x((?:(?:(?:(?:(?:){256}){256}){256}){256}){256})', "/" + 8 * "*a" + "b", "/*" + 1900 * "a" + "b", "/" + 600 * "*",
    "/{:a}*{:b}*{:c}*x", "/*?*=*&*=*",
]


async def serve(port_known, host="127.0.0.1"):
    """Serves until it is cancelled; `port_known` is told where."""
    server = await asyncio.start_server(_connection, host, 0, backlog=1024, limit=1 << 17)
    port_known(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _connection(reader, writer):
    try:
        while True:
            block = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            target = block[0].split(" ")[1]
            if target.startswith("/slow/"):
                await asyncio.sleep(30)
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in block[1:])}
            content = await reader.readexactly(int(fields.get("content-length", 0)))
            head, body = _answer(target, fields, content)
            kind = target.split("/")[1]
            if kind == "late":
                # The body ends later after its head than Dictum holds bodies.
                writer.write("\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode())
                await writer.drain()
                await asyncio.sleep(0.04)
                writer.write(body)
                await writer.drain()
                continue
            writer.write("\r\n".join([*head, f"Content-Length: {len(body)}" if body else "X-None: 1", "", ""]).encode())
            # In turn with others, so that not this server is what a burst of large bodies holds up.
            for start in range(0, len(body), PIECE):
                writer.write(body[start:start + PIECE])
                await writer.drain()
                await asyncio.sleep(0)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _answer(target, fields, content):
    path, _, query = target.partition("?")
    # As applications do, which decode a path, and take a backslash for a slash.
    if posixpath.normpath("/" + urllib.parse.unquote(path).replace("\\", "/").lstrip("/")) == "/login":
        return ["HTTP/1.1 200 OK", "Content-Type: text/plain", "Cache-Control: no-store"], b"logged in"
    number = feed.version()
    head = ["HTTP/1.1 200 OK", "Content-Type: application/json"]
    kind = path.split("/")[1]
    if kind == "fresh":
        # The tag is that of the resource, even if a request field changes the body.
        tag = f'"{number}"'
        if fields.get("if-none-match") == tag:
            return ["HTTP/1.1 304 Not Modified", f"ETag: {tag}"], b""
        said = fields.get("x-host") or fields.get("x-forwarded-prefix") or ""
        return [*head, f"ETag: {tag}", "Cache-Control: max-age=600"], feed.body(path, number, said)
    if kind == "stable":
        return [*head, "Cache-Control: public, max-age=600"], feed.body(path, 0)
    if kind == "page":
        # Without `fresh`, browsers keep no page, and Links pay.
        return ["HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: public, max-age=5"], b"<p>" + 300 * b"page "
    if kind == "export":
        return [*head, "Cache-Control: public, max-age=600"], feed.fresh(path) * 2
    if kind == "large":
        return [*head, "Cache-Control: max-age=600"], feed.fresh(target) + LARGE
    if kind in ("mine", "late"):
        return [*head, "Cache-Control: private, max-age=600"], feed.body(path, number, fields.get("authorization", ""))
    if path == feed.OPERATIONS:
        return [*head, "Cache-Control: max-age=600"], feed.body(path, number, json.loads(content)["operationName"])
    # Some are explicitly public, the others need the id that they are offered with.
    control = "public, max-age=600" if path[-1:] in "01234" else "max-age=600"
    head += [f"Cache-Control: {control}", "Vary: Accept-Language"]
    if kind == "pattern":
        pattern = PATTERNS[next(_numbers) % len(PATTERNS)]
        match = f"{pattern}{next(_numbers)}" if len(pattern) < 1900 else pattern
        # The body of an honest path, so that a look-up by its digest meets these chains.
        return [*head, f'Use-As-Dictionary: match="{match}"'], feed.body(f"/feed/{next(_numbers) % 10}", number)
    if "x-new" in fields:
        return head, feed.fresh(fields["x-new"])
    language = fields.get("accept-language", "")
    body = feed.body(path, number, query + language)
    return [*head, f'ETag: "{hashlib.sha256(body).hexdigest()[:16]}"'], body
