"""What Muster asks of a host that it may take in: who it is, where it is reached, and whether an agent is there already.
Reads only: nothing on the host is changed."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_facts
short_description: name, serial number, addresses, ssh host keys and agent of a host, told as Muster's `facts`
options:
  root: {type: str, default: '', description: prefix of every path on the host}
  address: {type: str, required: true, description: the address that it is reached by}
  port: {type: int, default: 22, description: of its sshd}
  unit: {type: str, default: muster-agent.service, description: the agent's unit}
"""

import glob
import json
import os
import socket

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import hardware, read

# Where systemd keeps units; the first one counts.
UNIT_FOLDERS = ("/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
HOME = "/opt/muster-agent"


def text_of(path):
    """Empty where there is no such file, or it may not be read."""
    return (read(path) or b"").decode("utf-8", "replace").strip()


def hostname_of(root):
    return text_of(root + "/etc/hostname") if root else socket.gethostname()


def addresses(module):
    ip = module.get_bin_path("ip", required=True)
    _, out, _ = module.run_command([ip, "-o", "addr", "show"], check_rc=True)
    found = []
    for line in out.splitlines():
        words = line.split()
        if len(words) > 3 and words[2] in ("inet", "inet6"):
            found.append(dict(interface=words[1], address=words[3].split("/")[0]))
    return found


def host_keys(module, root, address, port):
    """As its sshd shows them; where it cannot be asked, as they lie in their usual place."""
    scan = module.get_bin_path("ssh-keyscan")
    lines = []
    if scan:
        _, out, _ = module.run_command([scan, "-T", "3", "-p", str(port), address])
        lines = [line.split()[1:3] for line in out.splitlines() if not line.startswith("#")]
    if not lines:
        lines = [text_of(path).split()[:2] for path in glob.glob(root + "/etc/ssh/ssh_host_*_key.pub")]
    return sorted(set(" ".join(words) for words in lines if len(words) == 2))


def agent(module, root, unit):
    """None where no unit of that name is there."""
    paths = [root + folder + "/" + unit for folder in UNIT_FOLDERS]
    path = next((p for p in paths if os.path.exists(p)), None)
    if path is None:
        return None
    try:
        config = json.loads(text_of(root + "/etc/muster/agent.json"))
    except ValueError:
        config = {}
    # Installed by hand, it has no version that Muster could compare.
    ours = HOME + "/current/" in text_of(path)
    current = root + HOME + "/current"
    systemctl = module.get_bin_path("systemctl", required=True)
    _, out, _ = module.run_command([systemctl, "is-active", unit])
    return dict(
        active=out.strip().split("\n")[0] == "active",
        node=config.get("node") if isinstance(config, dict) else None,
        cluster=config.get("cluster") if isinstance(config, dict) else None,
        version=os.path.basename(os.readlink(current)) if ours and os.path.islink(current) else None,
        byHand=not ours,
    )


def main():
    module = AnsibleModule(
        argument_spec=dict(
            root=dict(type="str", default=""),
            address=dict(type="str", required=True),
            port=dict(type="int", default=22),
            unit=dict(type="str", default="muster-agent.service"),
        ),
        supports_check_mode=True,
    )
    p = module.params
    root = p["root"]
    facts = dict(
        hostname=hostname_of(root),
        # Root's to read: without it the machine id stands in.
        productSerial=text_of(root + "/sys/class/dmi/id/product_serial"),
        machineId=text_of(root + "/etc/machine-id"),
        addresses=addresses(module),
        hostKeys=host_keys(module, root, p["address"], p["port"]),
        agent=agent(module, root, p["unit"]),
        hardware=hardware(module, root),
    )
    module.exit_json(changed=False, muster=dict(facts=facts))


if __name__ == "__main__":
    main()
