"""A static site whose bundles have a hash in their names: each tick is a release that changes one function."""

import hashlib
import os
import random

import gallery
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

FOLDER = os.path.join(os.path.dirname(os.environ["GALLERY_TICK"]), "site")


def script(release):
    """A bundle of 300 functions, of which each release changes one."""
    lines = []
    for number in range(300):
        source = random.Random(number)
        if release and number in {random.Random(-step).randrange(300) for step in range(1, release + 1)}:
            source = random.Random(f"{number} in {release}")
        name, argument, other = source.sample(gallery.WORDS, 3)
        lines.append(
            f'function {name}{number}({argument}){{var {other}={source.randrange(10**6)};'
            f'if({argument}.{source.choice(gallery.WORDS)}>{other})return "{" ".join(source.choices(gallery.WORDS, k=6))}";'
            f"return {argument}.map(function(x){{return x*{other}%{source.randrange(97, 9973)}}})}}")
    return "\n".join(lines).encode()


def release():
    """Writes the current bundle and returns its name."""
    content = script(gallery.tick())
    name = f"main.{hashlib.sha256(content).hexdigest()[:8]}.js"
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(content)
    return name


async def index(request):
    return HTMLResponse(f'<!doctype html><html><head><script src="/assets/{release()}"></script></head></html>')


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    gallery.serve(Starlette(routes=[Route("/", index), Mount("/assets", StaticFiles(directory=FOLDER))]))
