"""Results of a run as JSON lines, one per host and task, for Muster's provisioner.

Written to the file that MUSTER_EVENTS_FILE names; without it the plugin keeps still. Lines:

  {"event": "play", "name": …}
  {"event": "start", "host": …, "task": …}
  {"event": "task", "host": …, "task": …, "path": "file:line", "status": "ok|failed|unreachable|skipped", "changed": bool,
   "ignored": bool, "message": …}
  {"event": "data", "host": …, "data": {…}}     what content says to Muster: `muster` of a module's result, or of
                                                 `set_stats` with `per_host: true`; keys: finding, checksum, effective, workloads,
                                                 hardware, facts, look, rendered, edited
  {"event": "recap", "host": …, "ok": n, "changed": n, "failures": n, "unreachable": n}

A task with no_log gives its status and nothing else.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: muster_events
    type: aggregate
    short_description: results as JSON lines for Muster
    description: Writes one JSON line per host and task to the file named by MUSTER_EVENTS_FILE.
    requirements:
      - enabled by ANSIBLE_CALLBACKS_ENABLED or callbacks_enabled
"""

# A message is for a person who reads why a node failed; the whole output is in the job's log.
MESSAGE_MOST = 4000


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "muster_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super(CallbackModule, self).__init__()
        path = os.environ.get("MUSTER_EVENTS_FILE")
        if not path:
            self.disabled = True
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace")

    def _write(self, **event):
        self._file.write(json.dumps(event, default=str) + "\n")
        self._file.flush()

    def _task(self, result, status, ignored=False):
        content = result._result
        hidden = bool(result._task.no_log) or bool(content.get("_ansible_no_log"))
        host = result._host.get_name()
        self._write(
            event="task",
            host=host,
            task=name_of(result._task),
            path=result._task.get_path() or "",
            status=status,
            changed=bool(content.get("changed", False)),
            ignored=bool(ignored),
            message="" if status in ("ok", "skipped") else ("(hidden by no_log)" if hidden else message_of(content)),
        )
        if hidden:
            return
        for data in data_of(content):
            self._write(event="data", host=host, data=data)

    def v2_playbook_on_play_start(self, play):
        self._write(event="play", name=play.get_name())

    def v2_runner_on_start(self, host, task):
        self._write(event="start", host=host.get_name(), task=name_of(task))

    def v2_runner_on_ok(self, result):
        self._task(result, "ok")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._task(result, "failed", ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._task(result, "unreachable", bool(result._task.ignore_unreachable))

    def v2_runner_on_skipped(self, result):
        self._task(result, "skipped")

    def v2_playbook_on_stats(self, stats):
        for host in sorted(stats.processed.keys()):
            s = stats.summarize(host)
            self._write(
                event="recap",
                host=host,
                ok=s["ok"],
                changed=s["changed"],
                failures=s["failures"],
                unreachable=s["unreachable"],
            )
        self._file.close()


def name_of(task):
    """`role: task` as Ansible says it; a role that is a path (a service is one, in the run's own folder) by its last part."""
    name = task.get_name()
    role = task._role.get_name() if task._role else ""
    return os.path.basename(role) + name[len(role):] if "/" in role and name.startswith(role) else name


def data_of(content):
    """What a result says to Muster: its own `muster`, and that of set_stats per host."""
    found = []
    if isinstance(content.get("muster"), dict):
        found.append(content["muster"])
    stats = content.get("ansible_stats")
    if isinstance(stats, dict) and stats.get("per_host") and isinstance(stats.get("data"), dict):
        if isinstance(stats["data"].get("muster"), dict):
            found.append(stats["data"]["muster"])
    return found


def message_of(content):
    """The part of a failed result that tells why: of a loop, that of its first failed item."""
    for item in content.get("results") or []:
        if isinstance(item, dict) and (item.get("failed") or item.get("unreachable")):
            if item.get("_ansible_no_log"):
                return "(hidden by no_log)"
            return message_of(item)
    parts = []
    for key in ("msg", "reason", "stderr", "module_stderr", "module_stdout", "stdout"):
        value = content.get(key)
        if isinstance(value, str) and value.strip() and value.strip() not in parts:
            parts.append(value.strip())
        if len(parts) == 2:
            break
    if not parts and isinstance(content.get("msg"), (dict, list)):
        parts.append(json.dumps(content["msg"], default=str))
    return ": ".join(parts)[:MESSAGE_MOST] or "failed without a message"
