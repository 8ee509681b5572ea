"""One service on a node, in one task: its files and its unit. A node is set up in a few round trips, so that a fleet
that comes back after an outage is in service again in seconds."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_service
short_description: a service's files as they shall be and its unit running, or everything of it gone
options:
  unit: {type: str, required: true, description: systemd unit}
  state: {type: str, choices: [running, absent], default: running}
  files:
    type: list
    elements: dict
    default: []
    description: path, content (base64), and mode ('0644'); written where they differ
  folders: {type: list, elements: str, default: [], description: made where they are missing}
  enabled: {type: bool, default: false, description: start at boot}
  restart: {type: bool, default: true, description: restart when a file has changed; false leaves that to the next start}
  remove: {type: list, elements: str, default: [], description: of an absent service, paths to remove, folders with all in them}
  program: {type: str, description: of an absent service, its program; processes that run it are ended, whoever started them}
"""

import base64
import os
import shutil

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import end, read, with_argv, write


class Service:
    def __init__(self, module):
        self.module = module
        self.p = module.params
        self.changed = []
        self.systemctl = module.get_bin_path("systemctl", required=True)

    def ask(self, verb):
        rc, out, err = self.module.run_command([self.systemctl, verb, self.p["unit"]])
        return out.strip().split("\n")[0]

    def order(self, *words):
        rc, out, err = self.module.run_command([self.systemctl] + list(words))
        if rc != 0:
            self.module.fail_json(msg="systemctl %s: %s" % (" ".join(words), (err or out).strip()), changed=bool(self.changed))
        self.changed.append("systemctl %s" % " ".join(words))

    def write_files(self):
        """Whether any of them was another."""
        before = len(self.changed)
        for folder in self.p["folders"]:
            if not os.path.isdir(folder):
                os.makedirs(folder)
                self.changed.append(folder)
        for f in self.p["files"]:
            content, mode = base64.b64decode(f["content"]), int(str(f.get("mode", "0644")), 8)
            if read(f["path"]) != content:
                write(f["path"], content, mode)
                self.changed.append(f["path"])
            elif os.stat(f["path"]).st_mode & 0o7777 != mode:
                os.chmod(f["path"], mode)
                self.changed.append(f["path"])
        return len(self.changed) > before

    def run(self):
        written = self.write_files()
        if written:
            self.order("daemon-reload")
        enabled = self.ask("is-enabled") in ("enabled", "static", "indirect", "alias")
        if enabled != self.p["enabled"]:
            self.order("enable" if self.p["enabled"] else "disable", self.p["unit"])
        if self.ask("is-active") != "active":
            self.order("start", self.p["unit"])
        elif written and self.p["restart"]:
            self.order("restart", self.p["unit"])

    def be_gone(self):
        if self.ask("is-active") in ("active", "activating", "reloading", "deactivating"):
            self.order("stop", self.p["unit"])
        if self.ask("is-enabled") == "enabled":
            self.order("disable", self.p["unit"])
        if self.p["program"]:
            found = with_argv([self.p["program"]])
            left = end(found)
            if left:
                self.module.fail_json(msg="still running: %s" % ", ".join(str(pid) for pid in left))
            self.changed += ["process %d" % pid for pid in found]
        removed = [path for path in self.p["remove"] if os.path.lexists(path)]
        for path in removed:
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        self.changed += removed
        if removed:
            self.order("daemon-reload")


def main():
    module = AnsibleModule(
        argument_spec=dict(
            unit=dict(type="str", required=True),
            state=dict(type="str", choices=["running", "absent"], default="running"),
            files=dict(type="list", elements="dict", default=[]),
            folders=dict(type="list", elements="str", default=[]),
            enabled=dict(type="bool", default=False),
            restart=dict(type="bool", default=True),
            remove=dict(type="list", elements="str", default=[]),
            program=dict(type="str"),
        ),
    )
    service = Service(module)
    try:
        service.run() if module.params["state"] == "running" else service.be_gone()
    except EnvironmentError as error:
        module.fail_json(msg="%s: %s" % (error.filename, error.strerror), changed=bool(service.changed))
    module.exit_json(changed=bool(service.changed), changes=service.changed)


if __name__ == "__main__":
    main()
