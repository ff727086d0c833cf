"""What the applications of the gallery share: data that changes slowly, and a field that says what each body is."""

import hashlib
import os
import random
import re

WORDS = """amber anchor apple arch autumn basil beacon birch breeze bridge brook canvas cedar chalk cliff clover coast
copper coral cotton creek crystal dawn delta dune ember fern field flint forest garden garnet glass grove harbor hazel
heron hill indigo iris island ivory jade juniper lake lantern laurel lemon linen maple marble meadow mint mist moss north
oak ocean olive opal orchard otter paper pearl pebble pine plum pond poppy quartz rain reed ridge river rose sage sand
shell silver slate snow spruce star stone summer thistle timber valley velvet violet walnut water wheat willow wind""".split()

BEARER = re.compile(r"Bearer ([a-z]+)\.[0-9a-f]{8}")


def tick():
    """The state that all applications show; the driver moves it on."""
    with open(os.environ["GALLERY_TICK"], encoding="ascii") as file:
        return int(file.read())


def products(count=60):
    """A catalogue in which each tick changes one price and one stock."""
    source = random.Random(7)
    items = []
    for number in range(count):
        name = " ".join(source.sample(WORDS, 2)).title()
        items.append({
            "id": 1000 + number,
            "sku": f"{source.randrange(16**8):08x}",
            "name": name,
            "description": " ".join(source.choices(WORDS, k=source.randrange(8, 24))).capitalize() + ".",
            "price": f"{source.randrange(100, 99_999) / 100:.2f}",
            "stock": source.randrange(500),
            "tags": sorted(source.sample(WORDS, source.randrange(1, 5))),
            "updated": f"2026-03-{source.randrange(1, 29):02d}T{source.randrange(24):02d}:{source.randrange(60):02d}:00Z",
        })
    for step in range(1, tick() + 1):
        change = random.Random(step)
        item = items[change.randrange(count)]
        item["price"] = f"{change.randrange(100, 99_999) / 100:.2f}"
        item["stock"] = change.randrange(500)
        item["updated"] = f"2026-04-01T{step // 60 % 24:02d}:{step % 60:02d}:00Z"
    return items


def private_lines(user, count=40):
    """What only one user may see: every line is marked as that user's."""
    source = random.Random(user)
    lines = [
        {"id": number, "secret": f"{user}-{source.randrange(16**16):016x}", "note": " ".join(source.choices(WORDS, k=9))}
        for number in range(count)
    ]
    lines[tick() % count]["note"] = f"changed at {tick()}"
    return lines


def bearer(field):
    """The user of a token such as `Bearer alice.0123abcd`, whose second part rotates; none without a token."""
    match = BEARER.fullmatch(field or "")
    return match and match.group(1)


class Digested:
    """An ASGI application whose bodies carry `X-Gallery-Digest`: nothing else can say what a random body was."""

    def __init__(self, application):
        self.application = application

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.application(scope, receive, send)
        head, pieces = None, []

        async def send_digested(message):
            nonlocal head
            if message["type"] == "http.response.start":
                head = message
                if is_stream(message):
                    await send(message)
                return
            if is_stream(head):
                await send(message)
                return
            pieces.append(message.get("body", b""))
            if not message.get("more_body"):
                body = b"".join(pieces)
                # Compressed bodies carry the digest field already.
                if not any(name.lower() == b"x-gallery-digest" for name, _ in head["headers"]):
                    digest = hashlib.sha256(body).hexdigest().encode()
                    head = {**head, "headers": [*head["headers"], (b"x-gallery-digest", digest)]}
                await send(head)
                await send({"type": "http.response.body", "body": body})

        await self.application(scope, receive, send_digested)


def is_stream(head):
    return any(name.lower() == b"content-type" and b"event-stream" in value for name, value in head["headers"])


def serve(application):
    """Serves an ASGI application at a free port of the loopback interface and prints its URL."""
    import socket

    import uvicorn
    import visit

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(256)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(visit.Visited(Digested(application)), log_level="warning", access_log=False, lifespan="auto")
    uvicorn.Server(config).run(sockets=[listener])
