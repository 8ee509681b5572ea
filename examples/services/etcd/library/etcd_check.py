"""Checks a node's etcd: whether it runs in its mode and nothing else of it does, who has the client port, and who the
members are. Reads only."""

DOCUMENTATION = r"""
module: etcd_check
short_description: what is broken about a node's etcd, and what has drifted
options:
  mode: {type: str, choices: [member, proxy], required: true}
  peer_url: {type: str, required: true, description: of this node, where it is a member}
  client_port: {type: int, required: true}
  members: {type: list, elements: str, required: true, description: client URLs of all members}
  peer_urls: {type: list, elements: str, required: true, description: peer URLs of all members, as the cluster must list them}
  wait: {type: int, default: 0, description: seconds until all is well}
"""

import json
import os
import re
import time
from urllib.request import ProxyHandler, build_opener

from ansible.module_utils.basic import AnsibleModule


def etcds():
    """(pid, mode) of each process of etcd, by its program."""
    for pid in (int(d) for d in os.listdir("/proc") if d.isdigit()):
        try:
            program = os.path.basename(os.readlink("/proc/%d/exe" % pid)).split(" ")[0]
            with open("/proc/%d/cmdline" % pid) as f:
                words = f.read().split("\0")
        except OSError:
            continue  # it has ended
        if program == "etcd":
            yield pid, "proxy" if "grpc-proxy" in words else "member"


class Check:
    def __init__(self, module):
        self.module = module
        self.p = module.params
        self.broken, self.drift = [], []

    def main_pid(self):
        _, out, _ = self.module.run_command(["systemctl", "show", "-p", "MainPID", "--value", "etcd.service"])
        return int(out.strip() or 0)

    def processes(self, main):
        for pid, mode in etcds():
            if mode != self.p["mode"]:
                self.broken.append("a %s of etcd runs (pid %d) and must not: this is a %s" % (mode, pid, self.p["mode"]))
            elif pid != main:
                self.broken.append("another %s of etcd runs (pid %d) beside etcd.service" % (mode, pid))

    def port(self, main):
        port = self.p["client_port"]
        _, out, _ = self.module.run_command(["ss", "-Hltnp", "sport = :%d" % port], check_rc=True)
        holders = {(name, int(pid)) for name, pid in re.findall(r'\("([^"]*)",pid=(\d+)', out)}
        for name, pid in sorted(holders):
            if pid != main:
                self.broken.append("port %d is taken by %s (pid %d)" % (port, name, pid))
        if not holders:
            self.broken.append("nobody listens on port %d" % port)

    def own_list(self):
        """What this member itself knows, and why there is no answer. It says so without a majority, too."""
        url = self.p["peer_url"] + "/members"
        try:
            with build_opener(ProxyHandler({})).open(url, timeout=2) as response:
                return {peer for member in json.loads(response.read().decode()) for peer in member["peerURLs"]}, ""
        except (OSError, ValueError) as error:
            return None, "%s: %s" % (url, getattr(error, "reason", None) or error)

    def ask(self, url):
        """The same of a member or a proxy, by the port of the clients: answered only by a majority."""
        status, out, err = self.module.run_command(
            ["etcdctl", "--endpoints", url, "--dial-timeout", "1s", "--command-timeout", "2s", "member", "list", "-w", "json"],
            environ_update={"ETCDCTL_API": "3"},
        )
        if status != 0:
            return None, (err or out).strip().split("\n")[-1]
        return {peer for member in json.loads(out)["members"] for peer in member["peerURLs"]}, ""

    def members(self):
        is_member = self.p["mode"] == "member"
        peers, why = self.own_list() if is_member else self.ask("127.0.0.1:%d" % self.p["client_port"])
        if peers is None:
            # A proxy without members has nothing to hand on: that is not its own fault.
            if is_member or any(self.ask(url)[0] is not None for url in self.p["members"]):
                self.broken.append("etcd does not answer: %s" % why)
        elif peers != set(self.p["peer_urls"]):
            self.drift.append("the members are %s, not %s" % (" ".join(sorted(peers)), " ".join(sorted(self.p["peer_urls"]))))

    def found(self):
        self.broken, self.drift = [], []
        main = self.main_pid()
        self.processes(main)
        self.port(main)
        # Somebody else on the port has nothing to say of the members.
        if not self.broken:
            self.members()
        return self.broken + self.drift


def main():
    module = AnsibleModule(
        argument_spec=dict(
            mode=dict(type="str", choices=["member", "proxy"], required=True),
            peer_url=dict(type="str", required=True),
            client_port=dict(type="int", required=True),
            members=dict(type="list", elements="str", required=True),
            peer_urls=dict(type="list", elements="str", required=True),
            wait=dict(type="int", default=0),
        ),
        supports_check_mode=True,
    )
    check = Check(module)
    deadline = time.time() + module.params["wait"]
    while check.found() and time.time() < deadline:
        time.sleep(0.5)
    module.exit_json(changed=False, broken=check.broken, drift=check.drift)


if __name__ == "__main__":
    main()
