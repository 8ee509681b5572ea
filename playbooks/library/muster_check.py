"""Looks at one service of a node and says whether it is as it shall be. Reads only: nothing on the node is changed."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_check
short_description: one finding about one service, without touching the node
options:
  service: {type: str, required: true, description: name in the finding}
  present: {type: bool, default: true, description: false when the service must not be on this node}
  unit: {type: str, required: true, description: systemd unit that must be active (or must not be)}
  files:
    type: list
    elements: dict
    description: files with exactly this content, as path and content (base64)
  url: {type: str, description: answers JSON over HTTP}
  answer: {type: dict, description: members that the answer must have}
  forbidden:
    type: list
    elements: dict
    description: processes that must not run, as name and argv, all of whose words stand in the command line
  timeout: {type: float, default: 2, description: seconds for the answer}
"""

import base64
import json

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import read, with_argv

try:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, build_opener
except ImportError:  # Python 2: Ansible's own message about the interpreter is clearer than ours
    build_opener = None


def unit_state(module, unit):
    # get_bin_path also looks into sbin; the PATH of the task goes first.
    systemctl = module.get_bin_path("systemctl", required=True)
    _, out, _ = module.run_command([systemctl, "is-active", unit], check_rc=False)
    return out.strip().split("\n")[0] or "unknown"


def file_trouble(f):
    found = read(f["path"])
    if found is None:
        return "%s is missing" % f["path"]
    return None if found == base64.b64decode(f["content"]) else "%s is not as it was installed" % f["path"]


def answer_trouble(url, wanted, timeout):
    """Asked directly: a proxy in the environment would answer for another host."""
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=timeout) as response:
            answer = json.loads(response.read(65536).decode("utf-8"))
    except HTTPError as error:
        return "%s answers %s" % (url, error.code)
    except (IOError, HTTPException) as error:
        return "%s does not answer: %s" % (url, getattr(error, "reason", None) or error)
    except ValueError:
        return "%s answers something else than JSON" % url
    if not isinstance(answer, dict):
        return "%s answers something else than an object" % url
    for key in sorted(wanted):
        if answer.get(key) != wanted[key]:
            return "%s says %s %s instead of %s" % (url, key, json.dumps(answer.get(key)), json.dumps(wanted[key]))
    return None


def forbidden_trouble(forbidden):
    return ["%s runs (pid %d) and must not" % (entry["name"], pid) for entry in forbidden for pid in with_argv(entry["argv"])]


def main():
    module = AnsibleModule(
        argument_spec=dict(
            service=dict(type="str", required=True),
            present=dict(type="bool", default=True),
            unit=dict(type="str", required=True),
            files=dict(type="list", elements="dict", default=[]),
            url=dict(type="str"),
            answer=dict(type="dict", default={}),
            forbidden=dict(type="list", elements="dict", default=[]),
            timeout=dict(type="float", default=2),
        ),
        supports_check_mode=True,
    )
    p = module.params
    broken, drift = [], []
    state = unit_state(module, p["unit"])
    if p["present"]:
        if state != "active":
            broken.append("%s is %s" % (p["unit"], state))
        elif p["url"]:
            trouble = answer_trouble(p["url"], p["answer"], p["timeout"])
            if trouble:
                broken.append(trouble)
        for f in p["files"]:
            trouble = file_trouble(f)
            if trouble:
                drift.append(trouble)
    elif state in ("active", "activating", "reloading"):
        broken.append("%s is %s and must not run here" % (p["unit"], state))
    broken.extend(forbidden_trouble(p["forbidden"]))
    result = "broken" if broken else "drift" if drift else "ok"
    finding = dict(service=p["service"], result=result, why="; ".join(broken + drift))
    module.exit_json(changed=False, finding=finding, muster=dict(finding=finding))


if __name__ == "__main__":
    main()
