"""Runs an image that umoci has unpacked, by runc: `container.py BUNDLE STORE NAME [CONFIGURATION]`.

Without a configuration it has its own. As an orchestrator does, it makes the root read-only and gives no capability. The
network is that of this machine.
"""

import json
import os
import pathlib
import sys


def main(bundle, store, name, configuration=None):
    file = pathlib.Path(bundle) / "config.json"
    config = json.loads(file.read_text())
    process, linux = config["process"], config["linux"]
    process["terminal"] = False
    process["capabilities"] = {}
    process["noNewPrivileges"] = True
    config["root"]["readonly"] = True
    linux["namespaces"] = [space for space in linux["namespaces"] if space["type"] != "network"]
    linux.pop("resources", None)
    process.pop("rlimits", None)
    config["mounts"] = [mount for mount in config["mounts"] if mount["type"] not in ("cgroup", "sysfs")]
    mounts = [("/var/lib/dictum", store, "rw")] + [("/etc/dictum/dictum.yaml", configuration, "ro")] * bool(configuration)
    config["mounts"] = [mount for mount in config["mounts"] if mount["destination"] not in [place for place, _, _ in mounts]]
    for place, source, mode in mounts:
        config["mounts"].append(
            {"destination": place, "type": "bind", "source": source, "options": ["bind", mode, "nosuid", "nodev"]})
    file.write_text(json.dumps(config))
    os.execvp("runc", ["runc", "run", "--bundle", bundle, name])


main(*sys.argv[1:])
