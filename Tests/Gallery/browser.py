"""A real Chromium on a page of the gallery, which fetches a changing resource and reports what came."""

import json
import shutil
import subprocess
import time

VISIT_SECONDS = 60
OPTIONS = [
    # The pages are ours, and containers have no user namespaces to make a sandbox of.
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-proxy-server",
]


def visit(port, path, folder, login=""):
    """Coding, bytes, bytes of gzip -6 and exactness of each fetch after the first; nothing where there is no Chromium."""
    program = shutil.which("chromium")
    if not program:
        return []
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    url = f"http://localhost:{port}/visit?path={path}&login={login}"
    process = subprocess.Popen(
        [program, *OPTIONS, f"--user-data-dir={folder / 'profile'}", url], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    try:
        deadline = time.monotonic() + VISIT_SECONDS
        while not report.exists():
            if time.monotonic() > deadline or process.poll() is not None:
                raise OSError("Chromium did not report")
            time.sleep(0.05)
        return [tuple(row) for row in json.loads(report.read_text(encoding="utf-8"))]
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder / "profile", ignore_errors=True)
