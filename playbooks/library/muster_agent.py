"""The agent on its node: unpacked, configured, started, and heard by NATS."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_agent
short_description: installs Muster's agent from its archive, or only starts the one that is there, and waits until it has reached NATS
options:
  root: {type: str, default: '', description: prefix of every path on the host}
  node: {type: str, required: true, description: whom the agent must say that it is}
  unit: {type: str, default: muster-agent.service, description: the agent's unit}
  version: {type: str, description: of the agent that shall run; absent, the one that is installed is only started}
  archive: {type: path, description: the archive on the host; needed where this version is not installed yet, removed afterwards}
  sha256: {type: str, description: of the archive}
  config: {type: dict, description: agent.json without the paths of the two secret files}
  credentials: {type: dict, description: nats.json; secret}
  keys: {type: list, elements: str, description: lines of datagram.key; secret}
  restart: {type: bool, default: false, description: also where nothing has changed}
  timeout: {type: float, default: 20, description: seconds until it must have reached NATS}
"""

import hashlib
import json
import os
import platform
import shutil
import socket
import tarfile
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import read, write

HOME = "/opt/muster-agent"
COMMANDS = ("muster-agent", "muster-gate", "muster-workload")


class Agent:
    def __init__(self, module):
        self.module = module
        self.p = module.params
        self.root = self.p["root"]
        self.home = self.root + HOME
        self.changed = []
        self.systemctl = module.get_bin_path("systemctl", required=True)

    def fail(self, message):
        self.module.fail_json(msg=message, changed=bool(self.changed))

    def ask(self, verb):
        _, out, _ = self.module.run_command([self.systemctl, verb, self.p["unit"]])
        return out.strip().split("\n")[0]

    def order(self, *words):
        rc, out, err = self.module.run_command([self.systemctl] + list(words))
        if rc != 0:
            self.fail("systemctl %s: %s" % (" ".join(words), (err or out).strip()))
        self.changed.append("systemctl %s" % " ".join(words))

    def unpack(self):
        """Aside and tried out, then renamed: what stands under a version's name is whole, and runs on this host."""
        target = os.path.join(self.home, self.p["version"])
        if not os.path.exists(os.path.join(target, "VERSION")):
            self.verify()
            aside = target + ".new"
            try:
                shutil.rmtree(aside, ignore_errors=True)
                with tarfile.open(self.p["archive"]) as archive:
                    archive.extractall(aside)
                self.try_out(os.path.join(aside, "node"))
                shutil.rmtree(target, ignore_errors=True)
                os.rename(aside, target)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
            self.changed.append(target)
        self.link(self.p["version"], os.path.join(self.home, "current"))
        if self.p["archive"] and os.path.exists(self.p["archive"]):
            os.unlink(self.p["archive"])

    def try_out(self, node):
        try:
            rc, out, err = self.module.run_command([node, "--version"], handle_exceptions=False)
        except EnvironmentError as error:
            rc, out, err = 1, "", str(error.strerror)
        if rc != 0:
            self.fail("the agent's Node does not run on this host (%s): %s" % (platform.machine(), (err or out).strip()))

    def verify(self):
        digest = hashlib.sha256()
        if not self.p["archive"] or not os.path.exists(self.p["archive"]):
            self.fail("version %s of the agent is not here, and its archive was not copied" % self.p["version"])
        with open(self.p["archive"], "rb") as f:
            for chunk in iter(lambda: f.read(1 << 20), b""):
                digest.update(chunk)
        if digest.hexdigest() != self.p["sha256"]:
            self.fail("the agent's archive did not arrive as it was sent")

    def link(self, target, path):
        if os.path.islink(path) and os.readlink(path) == target:
            return
        aside = path + ".new"
        if os.path.lexists(aside):
            os.unlink(aside)
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        os.symlink(target, aside)
        os.rename(aside, path)
        self.changed.append(path)

    def put(self, path, text, mode):
        content = text.encode("utf-8")
        if read(path) == content and os.stat(path).st_mode & 0o7777 == mode:
            return False
        write(path, content, mode)
        self.changed.append(path)
        return True

    def install(self):
        self.unpack()
        for command in COMMANDS:
            self.link("%s/current/bin/%s" % (self.home, command), "%s/usr/local/bin/%s" % (self.root, command))
        etc = self.root + "/etc/muster/"
        places = dict(credentials=etc + "nats.json", keys=etc + "datagram.key")
        self.put(etc + "agent.json", json.dumps(dict(self.p["config"], **places), indent=2, sort_keys=True) + "\n", 0o600)
        self.put(places["credentials"], json.dumps(self.p["credentials"]) + "\n", 0o600)
        self.put(places["keys"], "".join(key + "\n" for key in self.p["keys"]), 0o600)
        unit = read("%s/current/%s" % (self.home, self.p["unit"])).decode("utf-8").replace(HOME, self.home)
        if self.put("%s/etc/systemd/system/%s" % (self.root, self.p["unit"]), unit, 0o644):
            self.order("daemon-reload")

    def run(self):
        if self.p["version"]:
            self.install()
        if self.ask("is-enabled") not in ("enabled", "static", "indirect", "alias"):
            self.order("enable", self.p["unit"])
        if self.ask("is-active") != "active":
            self.order("start", self.p["unit"])
        elif self.changed or self.p["restart"]:
            self.order("restart", self.p["unit"])
        self.wait()
        self.remove_others()

    def status(self):
        """What the agent says of itself; None where it does not answer."""
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(2)
        try:
            s.connect(self.root + "/run/muster/agent.sock")
            s.sendall(b'{"op":"status"}\n')
            data = b""
            while not data.endswith(b"\n"):
                chunk = s.recv(65536)
                if not chunk:
                    return None
                data += chunk
            return json.loads(data.decode("utf-8"))
        except (EnvironmentError, ValueError):
            return None
        finally:
            s.close()

    def wait(self):
        deadline = time.time() + self.p["timeout"]
        while True:
            status = self.status()
            is_other = status is not None and status.get("node") != self.p["node"]
            if status is not None and not is_other and status.get("nats"):
                return
            if is_other or time.time() > deadline:
                self.fail(self.fault(status))
            time.sleep(0.1)

    def fault(self, status):
        if status is None:
            return "%s is %s and gives no answer: see its journal on the host" % (self.p["unit"], self.ask("is-active"))
        if status.get("node") != self.p["node"]:
            return "the agent runs as %s, not as %s: see /etc/muster/agent.json on the host" % (status.get("node"), self.p["node"])
        urls = sorted(url for urls in (self.p["config"] or {}).get("nats", {}).values() for url in urls)
        return "the agent runs, and has reached no NATS server within %d s%s" % (
            self.p["timeout"],
            ": tried %s" % ", ".join(urls) if urls else "",
        )

    def remove_others(self):
        """Earlier versions: only now does nobody run them any more."""
        if not self.p["version"]:
            return
        for name in os.listdir(self.home):
            if name not in ("current", self.p["version"]):
                path = os.path.join(self.home, name)
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            root=dict(type="str", default=""),
            node=dict(type="str", required=True),
            unit=dict(type="str", default="muster-agent.service"),
            version=dict(type="str"),
            archive=dict(type="path"),
            sha256=dict(type="str"),
            config=dict(type="dict"),
            credentials=dict(type="dict", no_log=True),
            keys=dict(type="list", elements="str", no_log=True),
            restart=dict(type="bool", default=False),
            timeout=dict(type="float", default=20),
        ),
        required_together=[("version", "config", "credentials", "keys")],
    )
    agent = Agent(module)
    try:
        agent.run()
    except (EnvironmentError, tarfile.TarError) as error:
        agent.fail("%s: %s" % (getattr(error, "filename", None) or "the archive", getattr(error, "strerror", None) or error))
    module.exit_json(changed=bool(agent.changed), changes=agent.changed)


if __name__ == "__main__":
    main()
