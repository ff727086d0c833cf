"""Starlette with a session that rolls on every response, `Vary: Origin` by CORS, and one resource that is always gzip."""

import gzip
import hashlib

import gallery
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def products(request):
    # The session is written, and so rolls, on every response.
    request.session["seen"] = request.session.get("seen", 0) + 1
    return JSONResponse(gallery.products())


async def login(request):
    request.session["user"] = request.query_params["user"]
    return Response(status_code=204)


async def inbox(request):
    user = request.session.get("user") or gallery.bearer(request.headers.get("Authorization"))
    if not user:
        return JSONResponse({"error": "Log in first."}, status_code=401)
    request.session["seen"] = request.session.get("seen", 0) + 1
    return JSONResponse({"user": user, "lines": gallery.private_lines(user)})


async def packed(request):
    """As from a cache of compressed bodies, whatever the request accepts."""
    body = JSONResponse(gallery.products()).body
    return Response(
        gzip.compress(body, 6, mtime=0), media_type="application/json",
        headers={"Content-Encoding": "gzip", "X-Gallery-Digest": hashlib.sha256(body).hexdigest(), "Vary": "User-Agent"})


async def localized(request):
    return JSONResponse(
        {"language": request.headers.get("Accept-Language"), "items": gallery.products()},
        headers={"Vary": "Accept-Language, Origin"})


application = Starlette(
    routes=[
        Route("/products", products), Route("/login", login), Route("/inbox", inbox), Route("/packed", packed),
        Route("/localized", localized),
    ],
    middleware=[
        Middleware(CORSMiddleware, allow_origins=["https://shop.test"], allow_credentials=True),
        Middleware(SessionMiddleware, secret_key="the gallery's"),
    ])

if __name__ == "__main__":
    gallery.serve(application)
