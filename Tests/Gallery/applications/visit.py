"""The page of the gallery, which any application has besides its own paths: it fetches a path, and reports what came."""

import hashlib
import json
import os
import zlib

import gallery

# With `login` it is a page for a user who is logged in. Its first load logs in. Its second has the browser keep a dictionary by the
# one line that such a page needs. Its third is the second visit, which is measured.
PAGE = """<!doctype html><link rel="icon" href="data:,">LINE<script>
(async () => {
  const query = new URLSearchParams(location.search), path = query.get("path"), login = query.get("login"), rows = [];
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const headers = login === "bearer" ? {Authorization: "Bearer alice.00000000"} : {};
  const step = login ? Number(sessionStorage.step ?? 0) : 2;
  sessionStorage.step = step + 1;
  if (step === 0 && login === "session") await fetch("/login?user=alice");
  const twin = new URL(path + (path.includes("?") ? "&" : "?") + "dictum-own", location).href;
  if (login === "bearer") fetch(twin, {headers, priority: "low"});
  while (step === 1 && !performance.getEntriesByName(twin).length) await pause(50);
  if (step < 2) {
    // The browser writes a dictionary to its disk behind the response.
    await pause(1000);
    return location.replace(`/visit?path=${path}&login=${login}&in`);
  }
  for (let number = 0; number < (login ? 7 : 5); number++) {
    await fetch("/advance", {method: "POST"});
    const response = await fetch(path, {headers, cache: login ? "default" : "no-cache"});
    const text = await response.text();
    await pause(300);
    const entry = performance.getEntriesByName(new URL(path, location).href).at(-1);
    rows.push([text, entry.encodedBodySize, entry.contentEncoding || "", response.headers.get("X-Gallery-Digest")]);
  }
  await fetch("/report", {method: "POST", body: JSON.stringify(rows)});
})();
</script>"""


class Visited:
    """An ASGI application with the page, the path that moves its state on, and the one that takes the report."""

    def __init__(self, application):
        self.application = application

    async def __call__(self, scope, receive, send):
        handler = {"/visit": page, "/advance": advance, "/report": report}.get(scope.get("path"))
        if scope["type"] != "http" or not handler:
            return await self.application(scope, receive, send)
        body = handler(scope["query_string"].decode(), await whole(receive))
        fields = [(b"content-type", b"text/html"), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": body})


async def whole(receive):
    body, message = b"", {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return body


def page(query, _):
    path = query.removeprefix("path=").split("&")[0]
    line = f'<script src="/.dictum/own.js" data-paths="{path}" async></script>'
    return PAGE.replace("LINE", line if query.endswith("login=session&in") else "").encode()


def advance(*_):
    tick = gallery.tick()
    with open(os.environ["GALLERY_TICK"], "w", encoding="ascii") as file:
        file.write(str(tick + 1))
    return b""


def report(_, body):
    rows = []
    for text, coded_bytes, coding, digest in json.loads(body):
        compressor = zlib.compressobj(6, zlib.DEFLATED, 31, 8)
        gzip_bytes = len(compressor.compress(text.encode()) + compressor.flush())
        # Chromium says since version 126 in which coding a body came.
        rows.append([coding, coded_bytes, gzip_bytes, hashlib.sha256(text.encode()).hexdigest() == digest])
    path = os.path.join(os.path.dirname(os.environ["GALLERY_TICK"]), "report.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(rows[1:], file)
    os.rename(path + ".part", path)
    return b""
