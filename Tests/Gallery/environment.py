"""Virtual environments with packages from PyPI."""

import hashlib
import shutil
import subprocess

INSTALL_SECONDS = 120


class Unavailable(Exception):
    """PyPI is out of reach, or does not have the packages."""


def python_with(requirements, folder):
    """The Python of an environment, which is made if it is not there for these requirements."""
    python, stamp = folder / "bin/python", folder / "installed"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="ascii") == digest:
        return str(python)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        # The environment has pip only if Debian's python3-venv is installed.
        subprocess.run(["/usr/bin/python3", "-m", "venv", str(folder)], check=True, timeout=INSTALL_SECONDS,
                       stdout=subprocess.DEVNULL)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--timeout", "10",
             "--retries", "1", "-r", str(requirements)], check=True, timeout=INSTALL_SECONDS)
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unavailable(f"cannot be installed from PyPI ({error})") from error
    stamp.write_text(digest, encoding="ascii")
    return str(python)
