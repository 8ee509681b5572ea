"""Starts workloads on the node that they were assigned to: writes each one's unit, then has it started under its
lock and generation by the node's own `muster-workload`. Stops those that shall not run. One task for all of a job's workloads: after a death every
round trip counts."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_workload
short_description: install the units of workloads and start them, or stop them, each under its generation
options:
  root: {type: str, default: "", description: prefix of every path on the node}
  workloads:
    type: list
    elements: dict
    required: true
    description: >
      each with workload, generation and spec; spec has exec (a command line, or a list of words), and may have
      unit (name of the unit), description, user, workingDirectory, environment, restart; with a unit and without
      exec an existing unit is started, with the gate put before it; with stop, the workload is stopped, and nothing
      of it is changed that is installed
"""

import fcntl
import json
import os
import re

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import read, write

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
# What a workload is started with may hold passwords.
UNIT_MODE = 0o600
UNIT = re.compile(r"^[A-Za-z0-9][A-Za-z0-9:_.@-]{0,200}\.service$")
RESTARTS = ("no", "always", "on-failure", "on-abnormal", "on-success")
GENERATION = re.compile(r"^# muster-generation: (\d+)$", re.M)


# Exit code of muster-workload where the node has carried out a newer order.
STALE = 3


class Refused(Exception):
    pass


class Stale(Refused):
    """The node knows a newer order; seen: its generation, None where it cannot be read."""

    def __init__(self, message, seen):
        super(Stale, self).__init__(message)
        self.seen = seen


def plain(what, value):
    """A control character would end the line, and what follows would be another setting of the unit."""
    text = str(value)
    if any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise Refused("%s holds a control character" % what)
    return text


def quoted(what, word):
    """One word of a unit's setting, whatever it holds: % starts a specifier, $ a variable, \\ an escape."""
    text = plain(what, word)
    if re.match(r"^[A-Za-z0-9_./:=@,+-]+$", text):
        return text
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        text = text.replace(old, new)
    return '"%s"' % text


def command_line(value):
    if isinstance(value, list):
        if not value:
            raise Refused("spec.exec is empty")
        first = plain("spec.exec", value[0])
        if not re.match(r"^/[^\s%$\"'\\]+$", first):
            raise Refused("spec.exec starts with %r: give an absolute path of plain characters" % first)
        return " ".join([first] + [quoted("spec.exec", word) for word in value[1:]])
    line = plain("spec.exec", value).strip()
    if not line.startswith("/"):
        raise Refused("spec.exec must start with an absolute path")
    return line


def gate_lines(root, name, generation):
    lines = []
    if root:
        lines.append("Environment=%s" % quoted("muster_root", "MUSTER_ROOT=%s" % root))
    lines.append("ExecStartPre=%s/usr/local/bin/muster-gate %s --generation %d" % (root, name, generation))
    return lines


def unit_text(root, name, generation, spec):
    head = ["# muster-generation: %d" % generation]
    if not spec.get("exec"):
        return "\n".join(head + ["[Service]"] + gate_lines(root, name, generation)) + "\n"
    restart = str(spec.get("restart", "on-failure"))
    if restart not in RESTARTS:
        raise Refused("spec.restart %r is none of %s" % (restart, ", ".join(RESTARTS)))
    service = ["[Service]", "Type=simple"]
    if spec.get("user"):
        service.append("User=%s" % plain("spec.user", spec["user"]))
    if spec.get("workingDirectory"):
        service.append("WorkingDirectory=%s" % plain("spec.workingDirectory", spec["workingDirectory"]))
    for key, value in sorted((spec.get("environment") or {}).items()):
        if not re.match(r"^[A-Za-z_][A-Za-z0-9_]*$", key):
            raise Refused("spec.environment has a member %r: not a variable's name" % key)
        text = "%s=%s" % (key, value)
        # Environment= knows specifiers and escapes, but no variables: a $ stays as it is.
        service.append("Environment=%s" % quoted("spec.environment.%s" % key, text).replace("$$", "$"))
    service += gate_lines(root, name, generation)
    service += ["ExecStart=%s" % command_line(spec["exec"]), "Restart=%s" % restart, "RestartSec=1"]
    description = plain("spec.description", spec.get("description", "Workload %s" % name))
    return "\n".join(
        head
        + ["[Unit]", "Description=%s" % description, "After=network-online.target muster-agent.service", ""]
        + service
        + ["", "[Install]", "WantedBy=multi-user.target", ""]
    )


def order(module, root, verb, name, generation, unit):
    tool = "%s/usr/local/bin/muster-workload" % root
    words = [tool, verb, name, "--generation", str(generation)] + (["--unit", unit] if unit else [])
    rc, out, err = module.run_command(words)
    if rc == STALE:
        raise Stale((err or out).strip(), seen_here(root, name))
    if rc != 0:
        raise Refused((err or out).strip() or "muster-workload %s ended with %d" % (verb, rc))


def seen_here(root, name):
    try:
        known = json.loads((read("%s/var/lib/muster/workloads/%s.json" % (root, name)) or b"").decode("utf-8"))
        return int(known["generation"])
    except (EnvironmentError, ValueError, KeyError, TypeError):
        return None


def named(entry):
    name = str(entry.get("workload", ""))
    if not NAME.match(name):
        raise Refused("%r is no workload's name" % name)
    spec = entry.get("spec") or {}
    unit = str(spec.get("unit") or "muster-workload-%s.service" % name)
    if not UNIT.match(unit):
        raise Refused("spec.unit %r is no service unit's name" % unit)
    return name, int(entry["generation"]), spec, unit


def stop(module, root, entry):
    name, generation, spec, unit = named(entry)
    # What the node last started is what must end: the spec may name another unit by now.
    known = os.path.exists("%s/var/lib/muster/workloads/%s.json" % (root, name))
    order(module, root, "stop", name, generation, None if known or not spec.get("unit") else unit)


def start(module, root, entry):
    name, generation, spec, unit = named(entry)
    if not spec.get("exec") and not spec.get("unit"):
        raise Refused("spec has neither exec nor unit: nothing says what to start")
    path = "%s/etc/systemd/system/%s" % (root, unit)
    if not spec.get("exec"):
        path += ".d/50-muster-gate.conf"
    text = unit_text(root, name, generation, spec)

    locks = "%s/run/muster" % root
    if not os.path.isdir(locks):
        os.makedirs(locks)
    # Two jobs on one node: the unit of a newer generation is not written over by an older one that was slow.
    with open("%s/unit-%s.lock" % (locks, name), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read(path)
        found = GENERATION.search((before or b"").decode("utf-8", "replace"))
        if found and int(found.group(1)) > generation:
            installed = int(found.group(1))
            raise Stale("generation %d is older than %d, which is installed here" % (generation, installed), installed)
        changed = before != text.encode("utf-8")
        if changed:
            write(path, text.encode("utf-8"), UNIT_MODE)
            # A unit that systemd has never read needs no reload, and has no time for one; one of the host's own it has read.
            if before is not None or not spec.get("exec"):
                systemctl = module.get_bin_path("systemctl", required=True)
                rc, out, err = module.run_command([systemctl, "daemon-reload"])
                if rc != 0:
                    raise Refused("systemctl daemon-reload: %s" % (err or out).strip())
        elif os.stat(path).st_mode & 0o7777 != UNIT_MODE:
            os.chmod(path, UNIT_MODE)
        order(module, root, "start", name, generation, unit)
    return changed


def main():
    module = AnsibleModule(
        argument_spec=dict(
            root=dict(type="str", default=""),
            workloads=dict(type="list", elements="dict", required=True),
        ),
    )
    outcome, changed = {}, False
    for entry in module.params["workloads"]:
        name = str(entry.get("workload", "?"))
        try:
            if entry.get("stop"):
                stop(module, module.params["root"], entry)
                outcome[name] = dict(started=False, stopped=True, reason="")
            else:
                changed = start(module, module.params["root"], entry) or changed
                outcome[name] = dict(started=True, reason="")
        except (Refused, EnvironmentError, ValueError, KeyError) as failure:
            outcome[name] = dict(started=False, reason=str(failure))
            if getattr(failure, "seen", None) is not None:
                outcome[name]["seen"] = failure.seen
    failed = sorted(n for n in outcome if not (outcome[n]["started"] or outcome[n].get("stopped")))
    if failed:
        module.fail_json(
            msg="; ".join("%s: %s" % (n, outcome[n]["reason"]) for n in failed),
            changed=changed,
            muster=dict(workloads=outcome),
        )
    module.exit_json(changed=True, muster=dict(workloads=outcome))


if __name__ == "__main__":
    main()
