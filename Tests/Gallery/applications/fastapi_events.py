"""FastAPI: models, a bearer token, server-sent events, and a page that fetches."""

import asyncio
import json
import os
import zlib

import gallery
from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from pydantic import BaseModel

application = FastAPI(title="Gallery")


class Product(BaseModel):
    id: int
    sku: str
    name: str
    description: str
    price: str
    stock: int
    tags: list[str]
    updated: str


class Inbox(BaseModel):
    user: str
    lines: list[dict]


@application.get("/products")
async def products(limit: int = 60) -> list[Product]:
    return [Product(**item) for item in gallery.products()[:limit]]


@application.get("/inbox")
async def inbox(authorization: str | None = Header(None)) -> Inbox:
    user = gallery.bearer(authorization)
    if not user:
        raise HTTPException(401, "A token is missing.")
    return Inbox(user=user, lines=gallery.private_lines(user))


@application.get("/events")
async def events(count: int = 5):
    async def stream():
        for number in range(count):
            yield f"id: {number}\ndata: {json.dumps(gallery.products()[number])}\n\n"
            await asyncio.sleep(0.02)

    return StreamingResponse(stream(), media_type="text/event-stream")


PAGE = """<!doctype html><script>
(async () => {
  const path = new URLSearchParams(location.search).get("path"), rows = [];
  for (let number = 0; number < 5; number++) {
    await fetch("/advance", {method: "POST"});
    const text = await (await fetch(path, {cache: "no-cache"})).text();
    const entries = performance.getEntriesByName(new URL(path, location).href);
    rows.push([text, entries[entries.length - 1].encodedBodySize, entries[entries.length - 1].contentEncoding || ""]);
    // The browser writes a dictionary to its disk behind the response.
    await new Promise(done => setTimeout(done, 300));
  }
  await fetch("/report", {method: "POST", body: JSON.stringify(rows)});
})();
</script>"""
sent = []


@application.get("/visit")
async def visit() -> HTMLResponse:
    sent.clear()
    return HTMLResponse(PAGE)


@application.post("/advance")
async def advance():
    tick = gallery.tick()
    with open(os.environ["GALLERY_TICK"], "w", encoding="ascii") as file:
        file.write(str(tick + 1))


def changing(lines, cache_control):
    response = JSONResponse(lines, headers={"Cache-Control": cache_control})
    sent.append(response.body)
    return response


@application.get("/fresh")
async def fresh():
    return changing(gallery.products(), "max-age=3600")


@application.get("/own")
async def own():
    return changing(gallery.private_lines("carol"), "private, max-age=600")


@application.post("/report")
async def report(request: Request):
    rows = []
    for body, (text, coded_bytes, coding) in zip(sent, await request.json(), strict=True):
        compressor = zlib.compressobj(6, zlib.DEFLATED, 31, 8)
        gzip_bytes = len(compressor.compress(body) + compressor.flush())
        # Chromium says since version 126 in which coding a body came.
        rows.append([coding, coded_bytes, gzip_bytes, text.encode() == body])
    path = os.path.join(os.path.dirname(os.environ["GALLERY_TICK"]), "report.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(rows[1:], file)
    os.rename(path + ".part", path)


if __name__ == "__main__":
    gallery.serve(application)
