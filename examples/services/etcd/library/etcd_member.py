"""Makes a node a member of an etcd cluster, or has it leave. A member without data that the cluster still lists is taken
out and added anew: etcd lets no other way back."""

DOCUMENTATION = r"""
module: etcd_member
short_description: a node's membership in an etcd cluster, and the start of a member that joins
options:
  state: {type: str, choices: [present, absent], default: present}
  name: {type: str, description: of the member}
  peer_url: {type: str, required: true, description: by which the others reach it; by this the cluster knows it}
  client_url: {type: str, required: true}
  others: {type: list, elements: str, required: true, description: client URLs of the other masters}
  data: {type: path, required: true, description: its data folder}
  first_start: {type: path, description: file with the environment of its first start}
  may_found: {type: bool, default: false, description: it may begin a cluster where nobody answers}
  wait: {type: int, default: 30, description: seconds until it must serve}
"""

import json
import os
import time

from ansible.module_utils.basic import AnsibleModule


class Member:
    def __init__(self, module):
        self.module = module
        self.p = module.params

    def etcdctl(self, url, *words):
        return self.module.run_command(
            ["etcdctl", "--endpoints", url, "--dial-timeout", "2s", "--command-timeout", "5s"] + list(words),
            environ_update={"ETCDCTL_API": "3"},
        )

    def ask(self, urls):
        """Who answers, and the members that it knows. Nobody: None."""
        for url in urls:
            status, out, _ = self.etcdctl(url, "member", "list", "-w", "json")
            if status == 0:
                return url, json.loads(out)["members"]
        return None, None

    def change(self, url, *words):
        status, out, err = self.etcdctl(url, "member", *words)
        if status != 0:
            self.module.fail_json(msg="etcdctl member %s: %s" % (" ".join(words), (err or out).strip().split("\n")[-1]))
        return out

    def listed(self, members):
        return ["%x" % m["ID"] for m in members if self.p["peer_url"] in m["peerURLs"]]

    def join(self):
        has_data = os.path.isdir(os.path.join(self.p["data"], "member"))
        url, members = self.ask(self.p["others"])
        if has_data and (members is None or self.listed(members)):
            return dict(changed=False, started=False)
        if members is not None:
            # It was taken out of the cluster: with its old data it would not be let in.
            if has_data:
                self.systemctl("stop")
                os.rename(self.p["data"], "%s.%d" % (self.p["data"], time.time()))
            for member in self.listed(members):
                self.change(url, "remove", member)
            told = self.change(url, "add", self.p["name"], "--peer-urls", self.p["peer_url"])
            wanted = [line for line in told.splitlines() if line.startswith("ETCD_INITIAL_CLUSTER")]
        elif self.p["may_found"]:
            wanted = ['ETCD_INITIAL_CLUSTER="%(name)s=%(peer_url)s"' % self.p, 'ETCD_INITIAL_CLUSTER_STATE="new"']
        else:
            self.module.fail_json(
                msg="no member answers at %s; the first master begins a cluster, where every other can be reached and has "
                "no data" % " or ".join(self.p["others"])
            )
        with open(self.p["first_start"], "w") as f:
            f.write("\n".join(wanted) + "\n")
        self.systemctl("daemon-reload")
        self.systemctl("restart")
        self.serves()
        return dict(changed=True, started=True)

    def systemctl(self, verb):
        self.module.run_command(["systemctl", verb] + ([] if verb == "daemon-reload" else ["etcd.service"]), check_rc=True)

    def serves(self):
        """Part of a majority, so that the next one can join."""
        deadline = time.time() + self.p["wait"]
        while True:
            status, out, err = self.etcdctl(self.p["client_url"], "endpoint", "health")
            if status == 0:
                return
            if time.time() > deadline:
                self.module.fail_json(msg="it does not serve: %s" % (err or out).strip().split("\n")[-1])
            time.sleep(0.5)

    def leave(self):
        url, members = self.ask(self.p["others"] + [self.p["client_url"]])
        mine = self.listed(members or [])
        # The last one takes its cluster with it.
        if not mine or len(members) == 1:
            return dict(changed=False)
        for member in mine:
            self.change(url, "remove", member)
        return dict(changed=True)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["present", "absent"], default="present"),
            name=dict(type="str"),
            peer_url=dict(type="str", required=True),
            client_url=dict(type="str", required=True),
            others=dict(type="list", elements="str", required=True),
            data=dict(type="path", required=True),
            first_start=dict(type="path"),
            may_found=dict(type="bool", default=False),
            wait=dict(type="int", default=30),
        ),
        required_if=[("state", "present", ("name", "first_start"))],
    )
    member = Member(module)
    if module.params["state"] == "absent" and module.get_bin_path("etcdctl") is None:
        module.exit_json(changed=False)
    module.exit_json(**(member.join() if module.params["state"] == "present" else member.leave()))


if __name__ == "__main__":
    main()
