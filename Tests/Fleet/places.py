"""Network namespaces on one bridge: the place of this process, and one for each server.

A namespace lives as long as the process that holds it, so nothing is left behind however this ends."""

import os
import subprocess
import sys
import time

HERE_ADDRESS = "10.77.0.1"
_INSIDE = "DICTUM_FLEET_INSIDE"


def enter():
    """Goes on in a namespace of its own, with a bridge; exits with 77 where the system gives none."""
    if _INSIDE not in os.environ:
        probe = subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True)
        if probe.returncode:
            print("fleet: skipped, this system gives no network namespaces (they need root)")
            sys.exit(77)
        os.environ[_INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    _ip("link set lo up")
    _ip("link add lan type bridge")
    _ip(f"addr add {HERE_ADDRESS}/16 dev lan")
    _ip("link set lan up")


def add_addresses(addresses):
    """Gives this place further addresses: one for each client."""
    batch = "\n".join(f"addr add {address}/16 dev lan" for address in addresses)
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)


class Place:
    """The namespace of one machine, at `10.77.0.NUMBER`."""

    def __init__(self, number):
        self.number, self.address = number, f"10.77.0.{number}"
        # Ends with this process, whatever ends it.
        self.holder = subprocess.Popen(
            ["unshare", "--net", "setpriv", "--pdeathsig", "KILL", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        _until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
        _ip(f"link add port{number} type veth peer name eth0 address {_hardware(number)} netns {self.holder.pid}")
        _ip(f"link set port{number} master lan up")
        for words in ["link set lo up", f"addr add {self.address}/16 dev eth0", "link set eth0 up"]:
            subprocess.run([*self.prefix, "ip", *words.split()], check=True)

    @property
    def prefix(self):
        """What a command begins with so that it runs here."""
        return ["nsenter", "--target", str(self.holder.pid), "--net", "setpriv", "--pdeathsig", "KILL"]

    def start(self, command, log):
        """A process at this place."""
        return subprocess.Popen(
            [*self.prefix, *map(str, command)], stdin=subprocess.DEVNULL, stdout=log.open("ab"), stderr=subprocess.STDOUT)

    def cut_from(self, other):
        """Drops every packet from here to another place, without a word to anybody."""
        self._know(other, "02:ff:ff:ff:ff:ff")

    def mend(self, other):
        """Undoes `cut_from`."""
        self._know(other, _hardware(other.number))

    def _know(self, other, hardware):
        words = f"neigh replace {other.address} lladdr {hardware} dev eth0 nud permanent"
        subprocess.run([*self.prefix, "ip", *words.split()], check=True)

    def stop(self):
        self.holder.kill()
        self.holder.wait()


def _hardware(number):
    return f"02:00:00:00:00:{number:02x}"


def _ip(words):
    subprocess.run(["ip", *words.split()], check=True)


def _until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise SystemExit("fleet: a namespace did not come")
