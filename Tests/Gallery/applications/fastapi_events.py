"""FastAPI: models, a bearer token, and server-sent events."""

import asyncio
import json
import zlib

import gallery
from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import JSONResponse, StreamingResponse
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


def changing(lines, cache_control):
    return JSONResponse(lines, headers={"Cache-Control": cache_control})


@application.get("/fresh")
async def fresh():
    return changing(gallery.products(), "max-age=3600")


@application.get("/own")
async def own():
    return changing(gallery.private_lines("carol"), "private, max-age=600")


@application.get("/rails")
async def rails(authorization: str | None = Header(None)):
    """What Rails adds to every response of a session."""
    user = gallery.bearer(authorization)
    if not user:
        raise HTTPException(401, "A token is missing.")
    response = changing(gallery.private_lines(user), "max-age=0, private, must-revalidate")
    response.headers["ETag"] = f'W/"{zlib.crc32(response.body):08x}"'
    response.set_cookie("_session", f"{gallery.tick():032x}", httponly=True)
    return response


if __name__ == "__main__":
    gallery.serve(application)
