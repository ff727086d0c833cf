"""Prometheus that watches itself; its responses pass through untouched but for the digest."""

import ctypes
import os
import signal
import socket
import subprocess
import time

import gallery
import httpx
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

FOLDER = os.path.dirname(os.environ["GALLERY_TICK"])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start():
    port = free_port()
    path = os.path.join(FOLDER, "prometheus.yml")
    with open(path, "w", encoding="ascii") as file:
        file.write(
            "global: {scrape_interval: 1s}\n"
            f"scrape_configs: [{{job_name: self, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n")
    subprocess.Popen(
        ["prometheus", f"--config.file={path}", f"--storage.tsdb.path={FOLDER}/tsdb", "--log.level=error",
         f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, preexec_fn=end_with_parent)
    wait_for_scrape(url := f"http://127.0.0.1:{port}")
    return url


def end_with_parent():
    """Prometheus must not stay behind, however this program ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def wait_for_scrape(url):
    """Returns when Prometheus knows its own metrics."""
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        try:
            if len(httpx.get(f"{url}/api/v1/metadata").content) > 10_000:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit("Prometheus does not scrape itself")


upstream = start()
client = httpx.AsyncClient(base_url=upstream, timeout=30)


async def forward(request):
    response = await client.get(request.url.path, params=request.query_params, headers={"accept-encoding": "identity"})
    kept = {name: value for name, value in response.headers.items() if name in ["content-type", "vary", "cache-control"]}
    return Response(response.content, response.status_code, kept)


if __name__ == "__main__":
    gallery.serve(Starlette(routes=[Route("/{path:path}", forward)]))
