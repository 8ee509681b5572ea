"""Looks at one service of a node and says whether it is as it shall be. Reads only: nothing on the node is changed.

Within a site run it waits for the service to be ok (MUSTER_VERIFY), and fails where that does not come."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_check
short_description: one finding about one service, without touching the node
options:
  service: {type: str, description: name in the finding; of a service of its own folder that is the default}
  present: {type: bool, default: true, description: false when the service must not be on this node}
  unit: {type: str, description: systemd unit that must be active (or must not be)}
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
  drift: {type: str, description: what the task before has found to differ; empty for nothing}
  evidence: {type: str, description: what was found in place of what should be, where drift is given; only its hash is told}
  broken: {type: str, description: what the task before has found not to work; empty for nothing}
  timeout: {type: float, default: 2, description: seconds for the answer}
  standing: {type: bool, default: false, description: return the files that differ as they stand}
  wait: {type: float, default: 10, description: seconds that a site run waits for the service to be ok}
"""

import base64
import hashlib
import json
import os
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import read, with_argv

try:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, build_opener
except ImportError:  # Python 2: Ansible's own message about the interpreter is clearer than ours
    build_opener = None


# Bytes of a file that is returned as it stands, and of all of them: of others only size and hash are told.
STANDING_MOST = 65536
ALL_STANDING_MOST = 524288


def unit_state(module, unit):
    # get_bin_path also looks into sbin; the PATH of the task goes first.
    systemctl = module.get_bin_path("systemctl", required=True)
    _, out, _ = module.run_command([systemctl, "is-active", unit], check_rc=False)
    return out.strip().split("\n")[0] or "unknown"


def file_fault(f, found):
    if found is None:
        return "%s is missing" % f["path"]
    return None if found == base64.b64decode(f["content"]) else "%s is not as it was installed" % f["path"]


def standing(files):
    left, told = ALL_STANDING_MOST, []
    for f in files:
        found = read(f["path"])
        if found is None:
            told.append(dict(path=f["path"]))
        elif found != base64.b64decode(f["content"]):
            entry = dict(path=f["path"], size=len(found), sha256=hashlib.sha256(found).hexdigest())
            if len(found) <= min(STANDING_MOST, left):
                entry["content"] = base64.b64encode(found).decode("ascii")
                left -= len(found)
            told.append(entry)
    return told


def digest_of(found, evidence):
    """Of what lies where the files should: the same file, changed once more, is another finding."""
    whole = [
        [path, None if content is None else hashlib.sha256(content).hexdigest()]
        for path, content in sorted(found.items())
    ]
    if evidence:
        whole.append(evidence)
    return hashlib.sha256(json.dumps(whole).encode("utf-8")).hexdigest()


def answer_fault(url, wanted, timeout):
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


def forbidden_fault(forbidden):
    return ["%s runs (pid %d) and must not" % (entry["name"], pid) for entry in forbidden for pid in with_argv(entry["argv"])]


def finding(module, service):
    p = module.params
    broken = [p["broken"]] if p["broken"] else []
    drift = [p["drift"]] if p["drift"] else []
    differing = {}
    state = unit_state(module, p["unit"]) if p["unit"] else None
    if p["present"]:
        if p["unit"] and state != "active":
            broken.append("%s is %s" % (p["unit"], state))
        elif p["url"]:
            fault = answer_fault(p["url"], p["answer"], p["timeout"])
            if fault:
                broken.append(fault)
        for f in p["files"]:
            content = read(f["path"])
            fault = file_fault(f, content)
            if fault:
                drift.append(fault)
                differing[f["path"]] = content
    else:
        if state in ("active", "activating", "reloading"):
            broken.append("%s is %s and must not run here" % (p["unit"], state))
    broken.extend(forbidden_fault(p["forbidden"]))
    result = "broken" if broken else "drift" if drift else "ok"
    found = dict(service=service, result=result, why="; ".join(broken + drift))
    # Words alone fit a later change, too.
    if (differing or p["drift"]) and (p["evidence"] or not p["drift"]):
        found["digest"] = digest_of(differing, p["evidence"])
    return found


def main():
    module = AnsibleModule(
        argument_spec=dict(
            service=dict(type="str"),
            present=dict(type="bool", default=True),
            unit=dict(type="str"),
            files=dict(type="list", elements="dict", default=[]),
            url=dict(type="str"),
            answer=dict(type="dict", default={}),
            forbidden=dict(type="list", elements="dict", default=[]),
            drift=dict(type="str"),
            evidence=dict(type="str"),
            broken=dict(type="str"),
            timeout=dict(type="float", default=2),
            standing=dict(type="bool", default=False),
            wait=dict(type="float", default=10),
        ),
        supports_check_mode=True,
    )
    p = module.params
    service = p["service"] or os.environ.get("MUSTER_SERVICE")
    if not service:
        module.fail_json(msg="service is missing: outside of a service's own folder nobody else knows it")
    # A check of nothing would be a pass of nothing.
    looked_at = [p["unit"], p["forbidden"]] + ([p["url"], p["files"]] if p["present"] else [])
    if not any(looked_at) and p["drift"] is None and p["broken"] is None:
        wanted = "unit, files, url, forbidden, drift or broken" if p["present"] else "unit, forbidden, drift or broken"
        module.fail_json(msg="%s: nothing to look at: %s is needed" % (service, wanted))
    verify = os.environ.get("MUSTER_VERIFY") == "1"
    deadline = time.time() + (p["wait"] if verify else 0)
    found = finding(module, service)
    # What an earlier task has found does not change by waiting.
    while found["result"] != "ok" and not p["drift"] and not p["broken"] and time.time() < deadline:
        time.sleep(0.25)
        found = finding(module, service)
    told = dict(changed=False, finding=found, muster=dict(finding=found))
    if p["standing"] and p["present"]:
        told["standing"] = standing(p["files"])
    if verify and found["result"] != "ok":
        module.fail_json(msg="%s is %s after it was set up: %s" % (service, found["result"], found["why"]), **told)
    module.exit_json(**told)


if __name__ == "__main__":
    main()
