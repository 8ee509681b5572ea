"""Ends processes that must not run: by words of their command line, or by variables of their environment."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_end_processes
short_description: SIGKILL to every process that matches, and wait until it is gone
options:
  argv: {type: list, elements: str, description: all of these words stand in the command line}
  environment: {type: dict, description: all of these variables have these values}
  unless: {type: dict, default: {}, description: spared where all of these variables have these values}
  timeout: {type: float, default: 5, description: seconds until a killed process must be gone}
"""

import os
import signal
import time

from ansible.module_utils.basic import AnsibleModule


def words(pid, name):
    try:
        with open("/proc/%d/%s" % (pid, name), "rb") as f:
            return f.read().decode("utf-8", "surrogateescape").split("\0")
    except IOError:
        return []  # it ended meanwhile, or is another user's


def own_line():
    """This process and all its ancestors: the session that carries this very task."""
    line, pid = set(), os.getpid()
    while pid > 0 and pid not in line:
        line.add(pid)
        try:
            with open("/proc/%d/stat" % pid) as f:
                pid = int(f.read().rsplit(")", 1)[1].split()[1])
        except IOError:
            break
    return line


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except IOError:
        return False


def settings(variables):
    return ["%s=%s" % (k, variables[k]) for k in variables]


def matches(pid, p):
    if p["argv"]:
        argv = words(pid, "cmdline")
        if not all(word in argv for word in p["argv"]):
            return False
    if p["environment"]:
        environ = words(pid, "environ")
        if not all(s in environ for s in settings(p["environment"])):
            return False
        if p["unless"] and all(s in environ for s in settings(p["unless"])):
            return False
    return True


def main():
    module = AnsibleModule(
        argument_spec=dict(
            argv=dict(type="list", elements="str"),
            environment=dict(type="dict"),
            unless=dict(type="dict", default={}),
            timeout=dict(type="float", default=5),
        ),
        required_one_of=[["argv", "environment"]],
    )
    p = module.params
    if not p["argv"] and not p["environment"]:
        module.fail_json(msg="argv and environment are both empty: that would be every process")
    mine = own_line()
    found = [int(d) for d in os.listdir("/proc") if d.isdigit() and int(d) not in mine and matches(int(d), p)]
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it ended meanwhile; one that may not be killed is seen below
    deadline = time.monotonic() + p["timeout"]
    left = [pid for pid in found if is_running(pid)]
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [pid for pid in left if is_running(pid)]
    if left:
        module.fail_json(msg="still running: %s" % ", ".join(str(pid) for pid in left))
    module.exit_json(changed=bool(found), ended=found)


if __name__ == "__main__":
    main()
